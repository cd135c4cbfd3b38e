declare module "virtual:keys" {
  /** Sentences about the keys of queues: `{discipline: {key: sentence}}`. */
  const keys: Record<string, Record<string, string>>;
  export default keys;
}
