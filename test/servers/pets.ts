import { startProgram, temporaryFolder, type Program, type Teardown } from './program.js';
import { INTERNAL_TOKEN } from './gateway.js';

interface Pets {
  readonly program: Program;
  readonly url: string;
  readonly dataFolder: string;
}

interface PetsOptions {
  /** Left out: the embedded store. */
  readonly databaseUrl?: string;
  readonly dataFolder?: string;
}

/** A real pets process on a free port, with the token that `startGateway` gives its gateways; ends with the test. */
export async function startPets(t: Teardown, options: PetsOptions = {}): Promise<Pets> {
  const dataFolder = options.dataFolder ?? temporaryFolder(t);
  const program = startProgram(['pets'], {
    PETS_HOST: '127.0.0.1',
    PETS_PORT: '0',
    PETGATE_DATA: dataFolder,
    PETGATE_INTERNAL_TOKEN: INTERNAL_TOKEN,
    ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
  });
  t.teardown(() => program.stop('SIGKILL'));
  const { address } = await program.logged('pets listens');
  return { program, url: String(address), dataFolder };
}
