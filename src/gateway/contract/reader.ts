import { contentOf } from '../config/watch.js';
import { loadContract, type ContractSettings, type LoadedContract } from './load.js';

type Settings = ContractSettings & { readonly contract: string | null };

/** Loads the contract of settings, unless neither its files nor what the settings say of it have changed. */
export function createContractReader(): (settings: Settings) => LoadedContract {
  let last: { readonly known: string; readonly contract: LoadedContract } | undefined;
  return (settings) => {
    const { contract: path, overlays = [], basePath, ownPaths, credentials, upstreams = {} } = settings;
    const deadlines = Object.entries(upstreams).map(([name, { deadlineMs }]) => [name, deadlineMs]);
    const files = last?.contract.files ?? [...(path === null ? [] : [path]), ...overlays];
    // Before it is read: what changes meanwhile is read the next time.
    const known = JSON.stringify([path, overlays, basePath, ownPaths, credentials, deadlines, files, contentOf(files)]);
    if (last?.known === known) return last.contract;
    const contract = loadContract(path, settings);
    const isWhole = contract.files.join('\n') === files.join('\n');
    last = { known: isWhole ? known : '', contract };
    return contract;
  };
}
