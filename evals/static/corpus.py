"""The text on which the table is fitted: every source with its licence, in one place.

Nothing here comes from an evaluation set. See README.md (the provenance card) for the licences.
"""

from __future__ import annotations

import ast
import gzip
import html
import json
import random
import re
import sysconfig
from pathlib import Path

WORDNET = Path("/usr/share/wordnet")  # Debian package wordnet-base

NAMES = """Alice Amelia Amir Ana Andrea Andrew Angela Anna Anthony Arjun Astrid Ben Beth Brian Camila Carla Carlos Carmen
Catherine Charlotte Chen Chloe Chris Claire Dan Daniel David Diana Diego Ed Elena Eli Emily Emma Eric Ethan Eva Fatima
Felix Fiona Frank Gabriel George Grace Greta Hannah Harry Hassan Helen Henry Hiroshi Ian Ines Ingrid Isaac Isabel Ivan
Jack Jacob James Jane Jason Jenny Jessica Jose Julia Julian Karen Karl Kate Kenji Kevin Laura Leo Liam Linda Lisa Lucas
Lucy Luis Maggie Marco Margaret Mark Martha Martin Mary Matt Max Mei Michael Mohammed Mia Mike Nadia Nathan Nick Nina
Noah Nora Olga Oliver Olivia Omar Oscar Pablo Patricia Paul Peter Priya Rachel Raj Rebecca Richard Robert Rosa Ruth Ryan
Sam Samuel Sandra Sara Sean Simon Sofia Sophie Stefan Stella Steve Susan Tara Theo Thomas Tina Tom Tony Vera Victor
Vincent Wei William Yuki Yusuf Zoe""".split()


def wordnet(rng: random.Random) -> list[str]:
    """Definitions, examples, and lemma with definition."""
    out: list[str] = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (WORDNET / f"data.{part}").read_text("utf-8").splitlines():
            if line.startswith(" ") or " | " not in line:
                continue
            head, gloss = line.split(" | ", 1)
            fields = head.split()
            count = int(fields[3], 16)
            lemmas = [re.sub(r"\(.*\)", "", fields[4 + 2 * i]).replace("_", " ") for i in range(count)]
            examples = re.findall(r'"([^"]+)"', gloss)
            definition = re.split(r';\s*"', gloss, maxsplit=1)[0].strip(' ;"')
            lemma = rng.choice(lemmas)
            out.append(f"{lemma}: {definition}")
            if rng.random() < 0.3:
                out.append(definition)
            if rng.random() < 0.25:
                out.append(lemma)
            out.extend(examples)
            if examples and rng.random() < 0.3:
                out.append(f"{definition}. {' '.join(e.rstrip('.') + '.' for e in examples)}")
    return out


def chitchat_turns(dataset: Path) -> list[list[str]]:
    """BYU Chit-Chat (MIT): for each conversation its turns, consecutive messages joined."""
    conversations = []
    for talk in json.loads(dataset.read_text("utf-8")).values():
        turns = []
        for turn in talk["messages"]:
            text = " ".join(" ".join(m["text"].split()) for m in turn)
            if 2 <= len(text) <= 700:
                turns.append(text)
        conversations.append(turns)
    return conversations


PRESENT = {
    "love": "loves", "like": "likes", "want": "wants", "work": "works", "live": "lives", "think": "thinks",
    "play": "plays", "enjoy": "enjoys", "have": "has", "need": "needs", "hope": "hopes", "know": "knows",
    "study": "studies", "watch": "watches", "hate": "hates", "prefer": "prefers", "read": "reads", "go": "goes",
    "get": "gets", "feel": "feels", "plan": "plans", "use": "uses", "wish": "wishes", "remember": "remembers",
    "am": "is", "was": "was", "had": "had", "can": "can", "could": "could", "would": "would", "will": "will",
}  # fmt: skip
PAST = set(
    """went got made saw did took met found thought told came ate bought left lost won felt grew heard kept knew learned
    moved played read ran said spent started studied taught tried used visited wanted watched worked wrote broke built
    drove fell gave let liked lived loved paid put sat slept spoke stayed swam walked wore""".split()
)


def third_person(sentence: str, name: str, female: bool) -> str | None:
    """`I went to my sister's` → `Alice went to her sister's`; None where the rule is not sure."""
    pronoun, possessive, objective = ("she", "her", "her") if female else ("he", "his", "him")
    m = re.match(r"(?i)^(?:yeah|yes|well|oh|so|and|but|haha|no)?,?\s*(i'm|im|i've|ive|i'll|i'd|i)\s+(.*)$", sentence)
    if not m:
        return None
    head, rest = m.group(1).lower().replace("'", ""), m.group(2)
    words = rest.split()
    if len(words) < 3:
        return None
    first = words[0].lower()
    if head == "i":
        lead = {"really", "just", "also", "actually", "never", "always", "usually"}
        skip = first in lead and len(words) > 3
        verb = words[1].lower() if skip else first
        if verb in PRESENT:
            changed = PRESENT[verb]
        elif verb in PAST or verb.endswith("ed"):
            changed = verb
        elif verb in ("don't", "dont"):
            changed = "doesn't"
        else:
            return None
        words = ([first] if skip else []) + [changed] + words[2 if skip else 1 :]
    else:
        words = [{"im": "is", "ive": "has", "ill": "will", "id": "would"}[head]] + words
    rest = " ".join(words)
    rest = re.sub(r"(?i)\bi'm\b|\bim\b|\bi am\b", f"{pronoun} is", rest)
    rest = re.sub(r"(?i)\bi've\b|\bi have\b", f"{pronoun} has", rest)
    rest = re.sub(r"(?i)\bi\b", pronoun, rest)
    rest = re.sub(r"(?i)\bmyself\b", objective + "self", rest)
    rest = re.sub(r"(?i)\bmy\b", possessive, rest)
    rest = re.sub(r"(?i)\bme\b", objective, rest)
    return f"{name} {rest}".rstrip(" .!?") + "."


def about(question: str, name: str) -> str | None:
    """`What is your favorite food?` → `What is Alice's favorite food?`"""
    q = question
    q = re.sub(r"(?i)\bdo you\b", f"does {name}", q)
    q = re.sub(r"(?i)\bare you\b", f"is {name}", q)
    q = re.sub(r"(?i)\bwere you\b", f"was {name}", q)
    q = re.sub(r"(?i)\bhave you\b", f"has {name}", q)
    q = re.sub(r"(?i)\b(did|would|will|can|could|should) you\b", rf"\1 {name}", q)
    if q == question:
        q = re.sub(r"(?i)\byour\b", f"{name}'s", q, count=1)
    if q == question:
        return None
    q = re.sub(r"(?i)\byour\b", "their", q)
    q = re.sub(r"(?i)\byou\b", "them", q)
    return q[0].upper() + q[1:]


SLOTS: dict[str, list[str]] = {
    "rel": "sister|brother|mother|father|wife|husband|partner|daughter|son|cousin|aunt|uncle|grandmother|grandfather|best friend|roommate|neighbour|colleague|boss|manager|coach|teacher|therapist|landlord".split("|"),
    "city": "Lisbon|Berlin|Toronto|Seattle|Osaka|Nairobi|Oslo|Lima|Chicago|Melbourne|Vienna|Dublin|Seoul|Boston|Paris|Rome|Denver|Austin|Prague|Mumbai|Cairo|Madrid|London|Singapore|Montreal|Istanbul|Zurich|Amsterdam|Athens|Havana|Portland|San Diego".split("|"),
    "country": "Portugal|Germany|Canada|Japan|Kenya|Norway|Peru|Australia|Austria|Ireland|Korea|France|Italy|India|Egypt|Spain|Thailand|Mexico|Brazil|Sweden|Greece|Vietnam|Morocco|Iceland|New Zealand".split("|"),
    "hobby": "pottery|rock climbing|birdwatching|chess|painting|photography|running|swimming|yoga|woodworking|knitting|gardening|baking bread|playing the guitar|playing the piano|ballroom dancing|video games|board games|camping|surfing|cycling|fishing|hiking|meditation|writing poetry|juggling|astronomy|fencing|cooking|collecting stamps|singing in a choir|skiing|martial arts|theatre|sewing|restoring old cars".split("|"),
    "food": "sushi|pizza|ramen|tacos|lasagna|vegetable curry|pancakes|dark chocolate|strawberries|mushroom soup|fried rice|cheesecake|dumplings|salmon|falafel|ice cream|oatmeal|roast chicken|banana bread|coffee|green tea|coconut milk|peanuts|shellfish|gluten|dairy".split("|"),
    "job": "nurse|software engineer|teacher|chef|architect|lawyer|accountant|graphic designer|firefighter|journalist|electrician|dentist|photographer|mechanic|pilot|barista|social worker|researcher|musician|product manager|data scientist|veterinarian|carpenter|real estate agent|police officer|farmer".split("|"),
    "pet": "dog|cat|puppy|kitten|parrot|rabbit|hamster|turtle|goldfish|horse|guinea pig".split("|"),
    "petname": "Bruno|Luna|Pepper|Biscuit|Shadow|Coco|Rex|Olive|Mochi|Ziggy|Daisy|Whiskers|Toby".split("|"),
    "event": "wedding|birthday party|graduation|job interview|concert|marathon|camping trip|funeral|road trip|family reunion|book club meeting|doctor's appointment|conference|charity run|art exhibition|baby shower|school play|tournament|housewarming|surgery|parent-teacher meeting|music festival".split("|"),
    "when": "yesterday|last week|last Friday|two weeks ago|last month|in March|in July 2021|on 4 October 2022|last summer|this morning|over the weekend|last year|on Tuesday|three years ago|in 2019|during the holidays|on Christmas Eve|next month|next Saturday|tomorrow|in the spring".split("|"),
    "feel": "happy|excited|nervous|grateful|sad|proud|exhausted|relieved|inspired|anxious|disappointed|overwhelmed|lonely|hopeful|calm|confident|frustrated|embarrassed".split("|"),
    "thing": "a new laptop|an electric bike|a used car|a house|a set of paints|running shoes|a camera|a necklace|a guitar|a telescope|a bookshelf|a painting|a violin|a sewing machine|a coffee machine|a tent|a plant|a cookbook|an old photo album|a ring".split("|"),
    "topic": "climate change|mental health|artificial intelligence|the housing market|world history|space exploration|animal welfare|philosophy|nutrition|immigration|renewable energy|parenting|ancient Rome|marine biology".split("|"),
    "book": "a fantasy novel|a biography|a science fiction series|a mystery|a cookbook|a history book|a self-help book|a poetry collection|a graphic novel|a romance novel|a thriller".split("|"),
    "goal": "lose weight|learn Spanish|start a business|run a marathon|save for a house|write a novel|get promoted|quit smoking|open a bakery|finish a degree|travel more|sleep better|learn to drive|spend more time with family|record an album|build a treehouse".split("|"),
    "ill": "migraines|asthma|back pain|a broken ankle|a peanut allergy|diabetes|insomnia|anxiety|high blood pressure|a knee injury|the flu|an ear infection|a sprained wrist".split("|"),
    "tech": "PostgreSQL|SQLite|Redis|Kafka|Docker|Kubernetes|TypeScript|Rust|Python|Go|React|Vue|GraphQL|gRPC|Terraform|AWS|Cloudflare Workers|GitHub Actions|Elasticsearch|MongoDB|WebAssembly|nginx|RabbitMQ|MySQL".split("|"),
    "task": "the billing service|the login page|the search index|the mobile app|the data pipeline|the payment gateway|the onboarding flow|the admin dashboard|the nightly backup|the deployment script|the notification queue|the user profile API|the mail server|the reporting job|the test suite".split("|"),
    "fault": "times out|leaks memory|returns 500 errors|fails on Windows|loses messages|is too slow|crashes at startup|rejects valid tokens|drops connections|duplicates rows|breaks after the upgrade|ignores the cache".split("|"),
    "tool": "pnpm|npm|yarn|cargo|pip|poetry|vim|Emacs|VS Code|tmux|zsh|fish|dark mode|tabs|spaces|metric units|short answers|bullet points".split("|"),
}  # fmt: skip

STATEMENTS = """{N} lives in {city} with {p} {rel}.|{N} moved from {city} to {city} {when}.|{N} works as a {job} in {city}.|{N} enjoys {hobby} and {hobby}.|{N} went to a {event} {when} and felt {feel}.
{N} has a {pet} named {petname}.|{N} adopted a {pet} called {petname} {when}.|{N} is allergic to {food}.|{N}'s favorite food is {food}.|{N} loves {food} but can't stand {food}.|{N} bought {thing} {when}.|{N} gave {p} {rel} {thing}.
{N} wants to {goal}.|{N} is planning to {goal} after the {event}.|{N} was diagnosed with {ill} {when}.|{N} suffers from {ill}.|{N} is reading {book} about {topic}.|{N} is passionate about {topic}.|{N} feels {feel} about the {event}.
{N}'s {rel} is a {job}.|{N}'s {rel} visited {country} {when}.|{N} traveled to {country} with {p} {rel} {when}.|{N} started {hobby} {when}.|{N} took a class in {hobby}.|{N} met {M} at a {event} {when}.
{N} and {M} went {hobby} together {when}.|{N} told {M} about {p} {rel}'s {event}.|{N} asked {M} for advice about {topic}.|{N} got a promotion at work {when}.
{N} uses {tech} for {task}.|The team decided to move {task} from {tech} to {tech}.|We chose {tech} over {tech} because it is simpler.|{N} prefers {tool} over {tool}.|The user prefers {tool}.|{task} {fault} when {tech} restarts.|Fixed the bug where {task} {fault}.
I moved to {city} {when}.|I have a {pet}, {q} name is {petname}.|I'm allergic to {food}.|My {rel} is a {job} in {city}.|My {rel} and I love {hobby}.|I got {thing} from my {rel} {when}.|I've been doing {hobby} since {when}, it makes me feel {feel}.
I want to {goal} this year.|I went to a {event} {when}, it was amazing!|I'm so {feel} about my {event}!|I use {tech} at work and {tech} at home.|Please always use {tool}.|I was thinking about {topic} after reading {book}.|We are going to {country} {when}.
Remember that my {rel}'s birthday is {when}.|My {pet} {petname} had to go to the vet {when}.|The deadline for {task} is {when}.|{N} is responsible for {task}.|{N} reviewed the change to {task}.|Deploys of {task} happen {when}."""
QUESTIONS = """Where does {N} live?|What city did {N} move to?|What does {N} do for a living?|What are {N}'s hobbies?|When did {N} go to the {event}?|What is the name of {N}'s {pet}?|What pets does {N} have?|What is {N} allergic to?
What is {N}'s favorite food?|What did {N} buy {when}?|When did {N} buy {thing}?|What does {N} want to do?|What are {N}'s goals?|What health problems does {N} have?|What book is {N} reading?|How does {N} feel about the {event}?
What does {N}'s {rel} do?|Which countries has {N} visited?|Who did {N} travel to {country} with?|When did {N} start {hobby}?|How did {N} and {M} meet?
Which database does {task} use?|Why did we choose {tech}?|What did we decide about {task}?|Who is responsible for {task}?|What happens when {task} {fault}?|Which tool does {N} prefer?|How do I fix {task} when it {fault}?|What is still open on {task}?
Where do I live?|What is my {pet}'s name?|What am I allergic to?|When is my {rel}'s birthday?|What do I do for work?|What did I say about {topic}?|Do I like {food}?|What is my favorite food?|When is the {event}?|Where did I go {when}?
Would {N} enjoy {hobby}?|Would {N} be interested in {topic}?|Is {N} likely to move to {country}?|How long has {N} been doing {hobby}?|What did {N} get from {p} {rel}?"""


def templates(rng: random.Random, count: int) -> list[str]:
    statements = re.split(r"[|\n]", STATEMENTS)
    questions = re.split(r"[|\n]", QUESTIONS)
    out = []
    for _ in range(count):
        text = rng.choice(statements if rng.random() < 0.62 else questions)
        female = rng.random() < 0.5
        fixed = {"N": rng.choice(NAMES), "M": rng.choice(NAMES), "p": "her" if female else "his", "q": rng.choice(["his", "her", "its"])}
        text = re.sub(r"\{(\w+)\}", lambda m: fixed.get(m.group(1)) or rng.choice(SLOTS[m.group(1)]), text)
        out.append(text[0].upper() + text[1:])
    return out


def python_docs(rng: random.Random, count: int) -> list[str]:
    """First sentences of the standard library's docstrings (PSF licence): the register of technical notes."""
    out = set()
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" in path.parts or "test" in path.parts or "tests" in path.parts:
            continue
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                doc = ast.get_docstring(node)
                for paragraph in (doc or "").split("\n\n")[:3]:
                    text = " ".join(paragraph.split())
                    if 20 <= len(text) <= 500 and ">>>" not in text:
                        out.add(text)
    texts = sorted(out)
    rng.shuffle(texts)
    return texts[:count]


def service_docs(root: Path, seed: int = 20261201, each: int = 40) -> list[str]:
    """Sentences from botocore's service descriptions (Apache-2.0): queues, databases, deployments, access, networks."""
    rng = random.Random(seed)
    out: dict[str, None] = {}
    for folder in sorted(p for p in (root / "data").iterdir() if p.is_dir()):
        files = sorted(folder.glob("*/service-2.json*"))
        if not files:
            continue
        raw = files[-1].read_bytes()
        model = json.loads(gzip.decompress(raw) if files[-1].suffix == ".gz" else raw)
        documentation: list[str] = []
        waiting = [model]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                documentation += [v for k, v in node.items() if k == "documentation" and isinstance(v, str)]
                waiting += node.values()
            elif isinstance(node, list):
                waiting += node
        sentences = set()
        for text in documentation:
            plain = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
            sentences |= {t for t in re.split(r"(?<=[.!?])\s+(?=[A-Z])", plain) if 30 <= len(t) <= 260}
        chosen = sorted(sentences)
        rng.shuffle(chosen)
        out.update(dict.fromkeys(chosen[:each]))
    return list(out)


def chatterbot(root: Path) -> list[str]:
    """ChatterBot corpus, English (BSD-3-Clause): question and answer lines."""
    out = []
    for path in sorted((root / "data" / "english").glob("*.yml")):
        for line in path.read_text("utf-8").splitlines():
            m = re.match(r"^\s*-(?:\s+-)?\s+(.*)$", line)
            if m and len(m.group(1)) > 8:
                out.append(m.group(1).strip("'\" "))
    return out


def build(chitchat: Path, chatterbot_root: Path, seed: int = 20261201) -> list[tuple[str, str]]:
    """All (source, text), deduplicated, in a fixed order."""
    rng = random.Random(seed)
    parts: dict[str, list[str]] = {}
    parts["wordnet"] = wordnet(rng)
    talks = chitchat_turns(chitchat)
    turns, joined, third, asked, named = [], [], [], [], []
    for talk in talks:
        for i, text in enumerate(talk):
            turns.append(text)
            if i and rng.random() < 0.06:
                joined.append(talk[i - 1] + " " + text)
            if len(text) > 25 and rng.random() < 0.15:
                named.append(f"{rng.choice(NAMES)}: {text}")
            for sentence in re.split(r"(?<=[.!?])\s+", text):
                if 15 <= len(sentence) <= 250:
                    name, female = rng.choice(NAMES), rng.random() < 0.5
                    if sentence.endswith("?"):
                        if rng.random() < 0.5 and (changed := about(sentence, name)):
                            asked.append(changed)
                    elif changed := third_person(sentence, name, female):
                        third.append(changed)
    parts["chitchat"] = turns
    parts["chitchat, two turns"] = joined
    parts["chitchat, named"] = named
    parts["chitchat, third person"] = third
    parts["chitchat, asked about"] = asked
    parts["chatterbot"] = chatterbot(chatterbot_root)
    parts["templates"] = templates(rng, 40_000)
    parts["python"] = python_docs(rng, 12_000)
    glosses = parts["wordnet"]
    parts["wordnet, joined"] = []
    for _ in range(6_000):
        start = rng.randrange(len(glosses) - 8)
        parts["wordnet, joined"].append(". ".join(glosses[start : start + rng.randint(3, 6)]))
    seen: set[str] = set()
    out = []
    for source, texts in parts.items():
        for text in texts:
            key = text.lower()
            if text and key not in seen:
                seen.add(key)
                out.append((source, text))
    return out
