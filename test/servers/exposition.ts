/** One scrape of a /metrics page, read as Prometheus reads it. */
export interface Exposition {
  readonly text: string;
  /** Metric families: name, type and help, in the order they came. */
  readonly families: readonly { readonly name: string; readonly type: string; readonly labels: readonly string[] }[];
  readonly series: readonly Series[];
  /** The sum of all series of `name` that have these labels; NaN when there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export async function scrape(baseUrl: string): Promise<Exposition> {
  const answer = await fetch(`${baseUrl}/metrics`);
  if (answer.status !== 200) throw new Error(`no metrics: ${answer.status}`);
  return readExposition(await answer.text());
}

function readExposition(text: string): Exposition {
  const series = [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries(
      [...labels.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label = '', of = '']) => [label, of]),
    ),
    value: Number(value),
  }));
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => {
    const own = series.filter((one) => one.name.replace(/_(?:bucket|sum|count)$/, '') === name || one.name === name);
    return {
      name,
      type,
      labels: [...new Set(own.flatMap(({ labels }) => Object.keys(labels)))].filter((label) => label !== 'le'),
    };
  });
  return {
    text,
    families,
    series,
    value: (name, labels = {}) => {
      const found = series.filter(
        (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
      );
      return found.length === 0 ? Number.NaN : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}
