import { runPets } from '../../src/pets/main.js';

await runPets(process.env);
