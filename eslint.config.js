import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Who may promote an exchange: `exchange.ts`. A permit that another file makes was admitted by nobody. */
const PROMOTIONS = {
  toStripped: 'edge/strip',
  toRouted: 'contract/route',
  toIdentified: 'accounts/identify',
  toAdmitted: 'admission/admit',
};
const withoutPromotions = (importNames) => ({
  'no-restricted-imports': [
    'error',
    {
      patterns: [
        {
          regex: '/exchange\\.js$',
          importNames,
          message: 'Only the step that it is named after may promote an exchange.',
        },
      ],
    },
  ],
});
const promotions = Object.keys(PROMOTIONS);

/** As wide as prettier's lines. It leaves strings, templates and comments alone; this does not. */
const WIDTH = { code: 120, ignoreRegExpLiterals: true, ignorePattern: "^(import|export) .* from '" };

/** House rules: no function over 80 lines, no file over 400, no `any`, no promise left alone. */
export default defineConfig(
  globalIgnores(['dist', 'node_modules', 'coverage', '.tap', 'data']),
  { files: ['**/*.{ts,tsx,mjs,cjs,js}'], rules: { 'max-len': ['error', WIDTH] } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', { max: 400, skipBlankLines: true }],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      complexity: ['error', 20],
      eqeqeq: 'error',
      'no-console': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      // They took a third of eslint's time. There are no enums, and no literal passes for a class with #fields.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/prefer-nullish-coalescing': 'off',
    },
  },
  { files: ['src/**/*.{ts,tsx}'], rules: withoutPromotions(promotions) },
  ...promotions.map((own) => ({
    files: [`src/gateway/${PROMOTIONS[own]}.ts`],
    rules: withoutPromotions(promotions.filter((name) => name !== own)),
  })),
  {
    // Dashboards are written in the classic form, which every Grafana reads; the generator calls it old.
    files: ['grafana/**/*.ts'],
    rules: { '@typescript-eslint/no-deprecated': 'off' },
  },
  {
    // A test file is one list of promises, and tap returns promises that it awaits itself.
    files: ['test/**/*.{ts,tsx}'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-floating-promises': 'off',
    },
  },
);
