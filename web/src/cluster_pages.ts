// The pages about the cluster. Their code is one file, because one file compresses better than
// several.
export { NodePage } from './nodes/node';
export { Nodes } from './nodes/nodes';
export { Queue } from './queue/queue';
export { Usage } from './usage/usage';
