/** Keeps the `limit` highest of what it is given, and lists them best first. */
export class Best {
  constructor(limit) {
    this.limit = limit;
    this.list = [];
    this.least = -Infinity;
  }

  offer(id, score) {
    if (score <= this.least) return;
    let at = this.list.length;
    while (at > 0 && this.list[at - 1].score < score) at--;
    this.list.splice(at, 0, { id, score });
    if (this.list.length > this.limit) this.list.pop();
    if (this.list.length === this.limit) this.least = this.list[this.limit - 1].score;
  }
}
