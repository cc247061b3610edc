import { Command } from 'commander';
import type { Connect, Json } from '../client.js';
import { cell, keyValues, say, sayJson } from '../output.js';
import { pathOf } from './fields.js';

interface Options {
  readonly json?: true;
}

/** `petgate customers webhook`. */
export function webhookCommand(connect: Connect): Command {
  const webhook = new Command('webhook').description('where a customer is told of its keys and limits');
  const ask = async (method: 'GET' | 'PUT' | 'POST' | 'DELETE', id: string, more = '', body?: Json): Promise<Json> =>
    (await connect()).ask(method, `${pathOf(id, 'customers')}/webhook${more}`, body);
  const show = (answer: Json, json: true | undefined): void => {
    if (json === true) sayJson(answer);
    else say(keyValues(Object.entries(answer).map(([name, value]) => [name, cell(value)])));
  };
  webhook
    .command('show <id>')
    .description('show the webhook of a customer, without its secret')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: Options) => show(await ask('GET', id), json));
  webhook
    .command('set <id>')
    .description('set its address; the first prints the secret that events are signed with, this once')
    .requiredOption('--url <url>', 'such as https://hooks.shop.example/petgate')
    .option('--json', 'print JSON')
    .action(async (id: string, { url, json }: Options & { url: string }) =>
      show(await ask('PUT', id, '', { url }), json),
    );
  webhook
    .command('rotate <id>')
    .description('print a new secret, this once; the old one signs too for the overlap')
    .option('--overlap <duration>', 'such as 30m, 24h, 7d; 0s ends the old one at once', '24h')
    .option('--json', 'print JSON')
    .action(async (id: string, { overlap, json }: Options & { overlap: string }) =>
      show(await ask('POST', id, '/rotate', { overlap }), json),
    );
  webhook
    .command('remove <id>')
    .description('send nothing to it any more')
    .action(async (id: string) => {
      await ask('DELETE', id);
      say(`Customer ${id} has no webhook any more.`);
    });
  return webhook;
}
