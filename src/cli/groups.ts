import { Command } from 'commander';
import type { Connect } from './admin/admin-client.js';
import { rehearseCommand } from './rehearse/command.js';
import { checkCommand } from './rehearse/check.js';
import { exportCommand as exportStore, importCommand as importStore } from './transfer/store.js';
import { importCommand as importKeys } from './transfer/keys.js';
import { pushCommand } from './usage/push/command.js';
import { reconcileCommand } from './usage/reconcile.js';
import { reportCommand } from './usage/report.js';
import { commandFor, examplesOf } from './actions/commands.js';
import { allOffers, type Offer } from './actions/offer.js';

type Make = (connect: Connect) => Command;

/** The groups of commands: description, and the commands that are more than one request to the admin API. */
const GROUPS: Readonly<Record<string, readonly [about: string, ...more: Make[]]>> = {
  keys: ['create, find, change and end API keys', importKeys],
  customers: ['create, find, change and close customers, whose keys share a plan'],
  credits: ['add to prepaid balances'],
  bans: ['see, start and lift bans'],
  plans: ['see who has which plan, check a plans file, and rehearse it on past usage', checkCommand, rehearseCommand],
  events: ['see undelivered events, and redeliver them'],
  usage: ['report, verify and push the usage ledger', reportCommand, reconcileCommand, pushCommand],
  'usage archive': ['move old days of the ledger to the archive, verify and restore them'],
  gateways: ['see the gateways on the store'],
  store: ['back up, restore and move the store', exportStore, importStore],
  tokens: ['create, find and revoke tokens of the admin API'],
  sessions: ['end the sessions of people who signed in'],
};

/**
 * Returns the groups. They have their actions only if the command line names a group: loading the actions takes as long
 * as everything else in a command.
 * @param words of the command line
 */
export async function groupsFor(connect: Connect, words: readonly string[]): Promise<readonly Command[]> {
  const isWanted = words.some((word) => word in GROUPS || word === 'completion');
  const byWords = Object.entries(byCommand(isWanted ? await allOffers() : []));
  const groups = new Map<string, Command>();
  for (const [path, [about, ...more]] of Object.entries(GROUPS)) {
    const [parent = '', name] = path.split(' ');
    const group = new Command(name ?? parent).description(about);
    for (const make of more) group.addCommand(make(connect), { isDefault: make === reportCommand });
    const its = byWords.filter(([words]) => words.slice(0, words.lastIndexOf(' ')) === path);
    for (const [, offers] of its) group.addCommand(commandFor(connect, offers));
    group.addHelpText('after', `\n${examplesOf(its.flatMap(([, offers]) => offers))}`);
    if (name === undefined) groups.set(path, group);
    else groups.get(parent)!.addCommand(group);
  }
  return [...groups.values()];
}

function byCommand(offers: readonly Offer[]): Readonly<Record<string, readonly Offer[]>> {
  const all: Record<string, Offer[]> = {};
  for (const offer of offers) (all[offer.words.join(' ')] ??= []).push(offer);
  return all;
}
