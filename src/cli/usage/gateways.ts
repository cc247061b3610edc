import { Command } from 'commander';
import { listIn } from '../client.js';
import type { Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { cell, say, sayJson, styled } from '../output.js';

export function gatewaysCommand(connect: Connect): Command {
  return new Command('gateways')
    .description('show which gateways keep days from being final, and which were not waited for')
    .option('--json', 'print JSON')
    .action(async ({ json }: { readonly json?: true }) => {
      const found = await (await connect()).ask('GET', '/admin/v1/usage/gateways');
      if (json === true) {
        sayJson(found);
        return;
      }
      say(`All days before ${cell(found['openFrom'])} (UTC) are final.`);
      showMissing(found);
    });
}

export function giveUpCommand(connect: Connect): Command {
  return new Command('give-up')
    .description('wait no longer for the counts of a gateway that will not come back')
    .argument('<gateway>', 'its id, as "petgate usage gateways" shows it')
    .addHelpText(
      'after',
      '\nIts days become final, marked as without it. If it does come back, its counts are taken all the same.',
    )
    .action(async (gateway: string) => {
      if (!/^[\w-]{1,64}$/.test(gateway))
        throw new CommandError('The id of a gateway is letters, digits, - and _: see "petgate usage gateways".', 2);
      await (await connect()).ask('DELETE', `/admin/v1/usage/gateways/${gateway}`);
      say(`Gateway ${gateway} is not waited for any more.`);
    });
}

/** A line for each gateway that days wait for, or that they did not wait for. */
export function showMissing(report: Json): void {
  for (const { gateway, host, from, lastSeen, finalAt } of listIn(report, 'waitingFor')) {
    say(
      styled(
        'red',
        `\nDays from ${cell(from)} on wait for gateway ${cell(gateway)} on ${cell(host)}, last heard ${cell(lastSeen)}: it may still bring counts.`,
      ),
    );
    say(
      `Start it on its data folder, or give it up: petgate usage give-up ${cell(gateway)}. Not waited for after ${cell(finalAt)}.`,
    );
  }
  for (const { gateway, host, from, to, lastSeen } of listIn(report, 'without')) {
    say(
      styled(
        'red',
        `\n${cell(from)} to ${cell(to)} became final without gateway ${cell(gateway)} on ${cell(host)}, last heard ${cell(lastSeen)}: its counts may be missing.`,
      ),
    );
  }
}
