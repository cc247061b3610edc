/** `gzip;q=0.5`: a coding and its weight, which defaults to 1. */
const WEIGHTED = /^([!#$%&'*+\-.^_`|~0-9a-z]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/** Returns whether this Accept-Encoding (or '') prefers gzip (RFC 9110 §12.5.3). */
export function takesGzip(field: string): boolean {
  const weights = new Map<string, number>();
  for (const element of field.toLowerCase().split(',')) {
    const [, coding, weight = '1'] = WEIGHTED.exec(element.trim()) ?? [];
    if (coding !== undefined) weights.set(coding, Number(weight));
  }
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0);
}

/** Returns whether If-None-Match (or '') lists this ETag, compared weakly, or is `*` (RFC 9110 §13.1.2). */
export function isKnown(field: string, etag: string): boolean {
  return field.trim() === '*' || (field.match(/"[^"]*"/g)?.includes(etag) ?? false);
}
