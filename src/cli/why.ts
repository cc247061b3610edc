import { Command } from 'commander';
import { listIn, type Connect, type Json } from './admin/admin-client.js';
import { CommandError } from './terminal/command-error.js';
import { keyValues, say, sayJson, styled } from './terminal/output.js';
import { cell } from '../shared/text/readable.js';
import { segment } from './actions/segment.js';

export function whyCommand(connect: Connect): Command {
  return new Command('why')
    .argument('[request-id]', 'the X-Request-Id of the response')
    .description('show what happened to a request and why; exit code 1 if the gateway no longer remembers it')
    .option('--key <id>', 'show the last refused or failed requests of this key instead')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (id: string | undefined, { key, json }: { key?: string; json?: true }) => {
      if ((id === undefined) === (key === undefined)) throw new CommandError('Give a request id, or --key.', 2);
      const path = id === undefined ? `?key=${segment(key ?? '')}` : `/${segment(id)}`;
      const response = await (await connect()).ask('GET', `/admin/v1/exchanges${path}`);
      const exchanges = listIn(response, 'exchanges');
      if (json === true) sayJson(response);
      else for (const exchange of exchanges) say(`${textOf(exchange)}\n`);
      const elsewhere = elsewhereIn(response);
      if (json !== true && exchanges.length > 0 && elsewhere.length > 0) say(elsewhere.join('\n'));
      if (exchanges.length === 0) throw new CommandError([NOTHING, ...elsewhere].join('\n'));
    });
}

const NOTHING =
  'This gateway does not remember that request. While it runs, it keeps the last refused and failed requests (50 per ' +
  'key or address) and a few others; the access log has all of them.';

function textOf(exchange: Json): string {
  const { request, method, operation, status, code, message, reason, setting, decided, ended } = exchange;
  const style = Number(status) < 400 ? 'green' : Number(status) < 500 ? 'yellow' : 'red';
  const what = `${cell(method)} ${cell(operation)}  ${styled(style, cell(status))}`;
  const title = code === null ? what : `${what}  ${cell(code)}`;
  const fields = Object.entries({
    ...(message === null ? {} : { why: cell(message) }),
    ...(reason === null ? {} : { response: cell(reason) }),
    ...(setting === null ? {} : { setting: cell(setting) }),
    request: cell(request),
    time: decided === null ? `${cell(ended)} (no decision by the store)` : cell(decided),
    who: whoIn(exchange),
    ...verdictIn(exchange),
    took: tookIn(exchange),
  });
  return `${title}\n${keyValues(fields)}`;
}

function whoIn({ key, name, customer, address, plan, credential }: Json): string {
  const words = [
    key === null ? `address ${cell(address)}` : `key ${cell(key)}`,
    ...(name === null ? [] : [JSON.stringify(name)]),
    ...(customer === null ? [] : [`of customer ${cell(customer)}`]),
    ...(key === null ? [] : [`from ${cell(address)}`]),
    ...(plan === null ? [] : [`on plan ${cell(plan)}`]),
    ...(credential === null ? [] : [`(credential: ${cell(credential)})`]),
  ];
  return cell(words.join(' '));
}

function verdictIn(exchange: Json): Readonly<Record<string, string>> {
  const { outcome, violated, ban, retryAt, cost, counted } = exchange;
  if (outcome === null) return {};
  const limited = violated === null ? '' : ` by ${cell(violated)}`;
  const { until, level } = (ban ?? {}) as Json;
  const banned = ban === null ? '' : ` until ${cell(until)} (level ${cell(level)})`;
  const retry = retryAt === null ? '' : `; could pass at ${cell(retryAt)}`;
  const taken = counted === null ? 'whether they were taken is unknown' : counted === true ? 'taken' : 'not taken';
  const windows = listIn(exchange, 'windows').map(({ window, limit, remaining, reset }) =>
    remaining === null
      ? `${cell(window)} unlimited`
      : `${cell(window)} ${cell(remaining)} of ${cell(limit)} left, whole at ${cell(reset)}`,
  );
  return {
    verdict: `${cell(outcome)}${limited}${banned}${retry}`,
    windows: windows.join('; '),
    units: `${cell(cost)}, ${taken}`,
  };
}

function tookIn({ ms, admissionMs, upstreamMs, upstream }: Json): string {
  const to = (value: unknown): string => `${Number(value).toFixed(1)} ms`;
  const behind = upstream === null ? '' : `, upstream ${cell(upstream)} ${to(upstreamMs)}`;
  return `${to(ms)}: admission ${to(admissionMs)}${behind}`;
}

/** Names the workers and gateways that may also remember it. */
function elsewhereIn({ gateways, silentWorkers }: Json): readonly string[] {
  const others = Array.isArray(gateways) ? (gateways as readonly Json[]) : [];
  const hosts = [...new Set(others.map(({ host }) => cell(host)))].join(', ');
  return [
    ...(Number(silentWorkers) > 0 ? [`${cell(silentWorkers)} workers of this gateway did not respond.`] : []),
    ...(gateways === null ? ['The store did not list the other gateways.'] : []),
    ...(others.length > 0
      ? [`Each gateway remembers its own: ${others.length} more, on ${hosts}. Ask them with --admin-url.`]
      : []),
  ];
}

const EXAMPLES = `
Examples:
  petgate why 4bf92f3577b34da6a3ce929d0e0e4736
  petgate why --key AbCdEf123456 --json`;
