// What the API answers: docs/reference/http-api.md. Times in lists are seconds since the epoch, others ISO 8601; null was not measured.

export interface Held {
  lake: string;
  since: string | null;
  until: string | null;
  hosts: string[];
  cpus: Record<string, number>;
  servers: { server: string; version: string | null }[];
  problems: string[];
}

export interface Servers {
  lakes: Held[];
}

/** One value of a dimension, null for sessions that tell none; the text is a statement's. */
export interface Band {
  name: string | null;
  text: string | null;
  sessions: number;
  share: number;
  values: (number | null)[];
}

/** Average active sessions over time; bucket n ends at start_s + (n + 1) bucket_s. */
export interface Load extends Buckets {
  dimension: string;
  step_s: number;
  cpus: number | null;
  sessions: number;
  bands: Band[];
  others: { sessions: number; share: number; names: number; values: (number | null)[] } | null;
  total: { mean: (number | null)[]; low: (number | null)[]; high: (number | null)[] };
}

export interface Skew {
  dimension: string;
  skew: number;
  values: number;
  largest: string | null;
  text?: string | null;
  share: number;
}

export interface Evidence {
  table: string;
  filter: string;
  value: number | null;
  unit: string;
  figure: string;
  held_against: string;
  why: string;
}

export interface NotMeasured {
  what: string;
  why: string;
  grant: string;
}

export interface Finding {
  cause: string;
  severity: "critical" | "warning" | "note";
  database: string | null;
  title: string;
  impact: number | null;
  impact_known: string;
  confidence: number;
  explained_by: string | null;
  time_of: string | null;
  for: Evidence[];
  against: Evidence[];
  not_measured: NotMeasured[];
  remedy: string[];
  verify: string[];
  sources: string[];
  interval: { since: string; until: string } | null;
}

export interface Diagnosis {
  host: string;
  since: string | null;
  until: string | null;
  health: "healthy" | "not_healthy" | "not_judged";
  judged: string[];
  not_judged: string[];
  figures: { name: string; value: number; unit: string }[];
  findings: Finding[];
  time_of: string;
  explained: number | null;
  time: { wait_class: string; event: string; share: number }[];
  not_measured: NotMeasured[];
  others: Diagnosis[];
}

export interface Bucket {
  gt_us: number;
  le_us: number | null;
  count: number;
  waited_us: number | null;
}

export interface Column {
  end: string;
  interval_s: number;
  count: number | null;
  mean_us: number | null;
  buckets: Bucket[] | null;
}

/** The document of `doctord map --json`: docs/reference/map.md. */
export interface LatencyMap {
  subject: string;
  db: string | null;
  kind: "histogram" | "sampled" | "mean";
  columns: Column[];
  whole: { count: number; waited_us: number; quantiles: { share: number; us: number }[] } | null;
  reading: { sentences: string[] };
  markers: { at: string; kind: string; text: string }[];
  subjects: { name: string }[];
}

/** One entity of a figure, of each bucket the mean and the extremes of what was measured. */
export interface OneSeries {
  db: string | null;
  entity: string | null;
  average: number;
  mean: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

export interface Buckets {
  start_s: number;
  bucket_s: number;
  buckets: number;
}

export interface Series extends Buckets {
  figure: string;
  title: string;
  unit: string;
  series: OneSeries[];
  left_out: number;
}

export interface Figures {
  figures: { figure: string; title: string; unit: string; component: string }[];
}

export interface Statement extends Buckets {
  statement: string;
  texts: string[];
  seen: { db: string | null; database: string | null; plan: string | null; first: string; last: string }[];
  figures: { figure: string; unit: string; series: OneSeries[] }[];
}

/** A session, and below it those that waited for it. */
export interface Blocked {
  server: string;
  session: number;
  user: string | null;
  program: string | null;
  state: string | null;
  event: string | null;
  statement_id: string | null;
  waited_s: number;
  behind_s: number;
  values: (number | null)[] | null;
  below: Blocked[];
  left_out: number;
}

export interface Blocking extends Buckets {
  trees: Blocked[];
  left_out: number;
}

/** What is different in a time from one before. */
export interface Changes {
  before: { since: string; until: string };
  after: { since: string; until: string };
  moved: { dimension: string; name: string | null; before: number; after: number }[];
  changes: { kind: string; name: string; before: string | null; after: string | null }[];
  events: { ts: string; kind: string; text: string }[];
  not_recorded: string[];
}

export interface Threshold {
  threshold: string;
  title: string;
  unit: string;
  db: string | null;
  entity: string | null;
  limit: number;
  worse: "above" | "below";
  newest: number;
  as_of: string;
  verdict: "violated" | "date" | "not within the horizon" | "cannot be told";
  date: string | null;
  earliest: string | null;
  latest: string | null;
  why: string;
}

export interface Size {
  title: string;
  unit: string;
  db: string | null;
  entity: string | null;
  newest: number;
  per_day: number | null;
  date: string | null;
  expected: number | null;
  why: string | null;
}

/** The document of `doctord forecast --json`: docs/reference/forecast.md. */
export interface Forecast {
  horizon_s: number;
  history_s: number;
  items: Threshold[];
  sizes: Size[];
  others: Forecast[];
}

export interface Happened {
  ts: string;
  kind: string | null;
  subject: string | null;
  text: string | null;
}

export interface Events {
  events: Happened[];
  total: number;
}
