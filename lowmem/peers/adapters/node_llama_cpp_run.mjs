// Runs a model with node-llama-cpp and prints the figures of peer_adapter.py:
//
//   node node_llama_cpp_run.mjs PACKAGE MODEL.gguf encoder|decoder TOKENS THREADS

const [packageFolder, modelPath, kind, tokenText, threadText] =
  process.argv.slice(2);
const tokens = Number(tokenText);
const threads = Number(threadText);
const { getLlama } = await import(`file://${packageFolder}/dist/index.js`);

// Returns the seconds of the second pass.
async function encode(model) {
  const context = await model.createEmbeddingContext({
    contextSize: 512,
    batchSize: 512,
    threads,
  });
  const ids = Array.from({ length: tokens }, (_, i) => 1000 + 7 * i);
  await context.getEmbeddingFor(ids);
  const begin = performance.now();
  await context.getEmbeddingFor(ids);
  return (performance.now() - begin) / 1000;
}

// Returns the seconds for the tokens after the first one.
async function generate(model) {
  const context = await model.createContext({ contextSize: 256, threads });
  const prompt = [11, 22, 33, 44, 55, 66, 77, 88];
  let begin = 0;
  let count = 0;
  const answer = context
    .getSequence()
    .evaluate(prompt, { temperature: 0, yieldEogToken: true });
  for await (const _ of answer) {
    if (begin === 0) {
      begin = performance.now();
    } else if (++count === tokens) {
      break;
    }
  }
  if (count < tokens) throw new Error(`only ${count} of ${tokens} tokens`);
  return (performance.now() - begin) / 1000;
}

const llama = await getLlama({
  gpu: false,
  build: "never",
  maxThreads: threads,
  progressLogs: false,
  logLevel: "error",
});
const model = await llama.loadModel({ modelPath });
const seconds = await (kind === "encoder" ? encode(model) : generate(model));
console.log(JSON.stringify({ tokens, seconds }));
process.exit(0);
