import { cell } from '../../shared/readable.js';

type Json = Readonly<Record<string, unknown>>;

/** Until when all days are final, and why not longer. @param found as `GET /admin/v1/usage/gateways` responds */
export function finalityText(found: Json): string {
  return [`All days before ${cell(found['openFrom'])} (UTC) are final.`, ...missingText(found)].join('\n\n');
}

/** A sentence for each gateway that days wait for, or that they did not wait for. @param report with both as lists */
export function missingText({ waitingFor, without }: Json): readonly string[] {
  return [
    ...(waitingFor as readonly Json[]).map(
      ({ gateway, host, from, lastSeen, finalAt }) =>
        `Days from ${cell(from)} on wait for gateway ${cell(gateway)} on ${cell(host)}, last heard ` +
        `${cell(lastSeen)}: it may still bring counts.\nStart it on its data folder, or give it up: petgate usage ` +
        `give-up ${cell(gateway)}. Not waited for after ${cell(finalAt)}.`,
    ),
    ...(without as readonly Json[]).map(
      ({ gateway, host, from, to, lastSeen }) =>
        `${cell(from)} to ${cell(to)} became final without gateway ${cell(gateway)} on ${cell(host)}, last ` +
        `heard ${cell(lastSeen)}: its counts may be missing.`,
    ),
  ];
}
