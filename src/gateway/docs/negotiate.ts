/** `gzip;q=0.5`: a coding and its weight, 1 when it has none. */
const WEIGHTED = /^([!#$%&'*+\-.^_`|~0-9a-z]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/** Whether this Accept-Encoding (or '') prefers gzip (RFC 9110 §12.5.3). */
export function takesGzip(field: string): boolean {
  const weights = new Map<string, number>();
  for (const element of field.toLowerCase().split(',')) {
    const [, coding, weight = '1'] = WEIGHTED.exec(element.trim()) ?? [];
    if (coding !== undefined) weights.set(coding, Number(weight));
  }
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0);
}

/** Whether If-None-Match (or '') has this etag: any of a list, compared weakly, or `*` (RFC 9110 §13.1.2). */
export function isKnown(field: string, etag: string): boolean {
  return field.trim() === '*' || (field.match(/"[^"]*"/g)?.includes(etag) ?? false);
}
