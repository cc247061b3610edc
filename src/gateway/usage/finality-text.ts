import { cell } from '../../shared/text/readable.js';

type Json = Readonly<Record<string, unknown>>;

/** Returns which days are final, and which gateways delay others. @param found from `GET /admin/v1/usage/gateways` */
export function finalityText(found: Json): string {
  return [`All days before ${cell(found['openFrom'])} (UTC) are final.`, ...missingText(found)].join('\n\n');
}

/** Returns a sentence for each gateway that days wait for, or that final days may lack counts of. */
export function missingText({ waitingFor, without }: Json): readonly string[] {
  return [
    ...(waitingFor as readonly Json[]).map(
      ({ gateway, host, from, lastSeen, finalAt }) =>
        `Days from ${cell(from)} on wait for gateway ${cell(gateway)} on ${cell(host)}, last seen ` +
        `${cell(lastSeen)}: it may still bring counts.\nStart it on its data folder, or give up on it: petgate usage ` +
        `give-up ${cell(gateway)}. Those days become final without it at ${cell(finalAt)}.`,
    ),
    ...(without as readonly Json[]).map(
      ({ gateway, host, from, to, lastSeen }) =>
        `${cell(from)} to ${cell(to)} became final without gateway ${cell(gateway)} on ${cell(host)}, last ` +
        `seen ${cell(lastSeen)}: its counts may be missing.`,
    ),
  ];
}
