/** The smallest value that `share` of the values do not pass. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export const median = (values) => percentile(values, 0.5);

/** What one pass over the prompts came to; `answers` are the ids found for each. */
export function summary(times, answers, prompts) {
  const found = prompts.filter(({ id }, number) => answers[number].includes(id)).length;
  return {
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    queries: times.length,
    answered: answers.filter((ids) => ids.length > 0).length / answers.length,
    found: found / prompts.length,
  };
}
