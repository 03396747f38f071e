/**
 * Watches the memory that the grammar takes: the library keeps it to itself, so it is watched being made. To be called before
 * the grammar is loaded. The answer tells the bytes taken now.
 */
export function watchGrammarMemory(): () => number {
  const memories: WebAssembly.Memory[] = [];
  const OriginalMemory = WebAssembly.Memory;
  WebAssembly.Memory = class extends OriginalMemory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      memories.push(this);
    }
  };
  return () => memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
}
