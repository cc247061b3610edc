import { listIn, type Json } from '../client.js';
import { cell, styled } from '../output.js';
import type { Rows } from '../rest/command.js';
import { done } from '../rest/show.js';

export const GATEWAYS: Rows = {
  gateways: [
    'show which gateways keep days from being final, and which were not waited for',
    'GET usage/gateways',
    {
      text: (found) => [`All days before ${cell(found['openFrom'])} (UTC) are final.`, ...missingIn(found)].join('\n'),
    },
  ],
  'give-up <gateway>': [
    'wait no longer for the counts of a gateway that will not come back, by its id in "petgate usage gateways"',
    'DELETE usage/gateways/{gateway}',
    done('Gateway {gateway} is not waited for any more.'),
    '',
    {
      help: '\nIts days become final, marked as without it. If it does come back, its counts are taken all the same.',
    },
  ],
};

/** Lines for each gateway that days wait for, or that they did not wait for. */
export function missingIn(report: Json): readonly string[] {
  return [
    ...listIn(report, 'waitingFor').flatMap(({ gateway, host, from, lastSeen, finalAt }) => [
      red(
        `Days from ${cell(from)} on wait for gateway ${cell(gateway)} on ${cell(host)}, last heard ` +
          `${cell(lastSeen)}: it may still bring counts.`,
      ),
      `Start it on its data folder, or give it up: petgate usage give-up ${cell(gateway)}. Not waited for ` +
        `after ${cell(finalAt)}.`,
    ]),
    ...listIn(report, 'without').map(({ gateway, host, from, to, lastSeen }) =>
      red(
        `${cell(from)} to ${cell(to)} became final without gateway ${cell(gateway)} on ${cell(host)}, last ` +
          `heard ${cell(lastSeen)}: its counts may be missing.`,
      ),
    ),
  ];
}

function red(text: string): string {
  return styled('red', `\n${text}`);
}
