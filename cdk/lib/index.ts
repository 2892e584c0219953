/** What the published construct is made of: `tools/dist.py` bundles it beside the class that jsii compiles. */
export { addParts } from './burst-watch.ts';
