declare module "xz-decompress" {
  export class XzReadableStream extends ReadableStream<Uint8Array<ArrayBuffer>> {
    constructor(packed: ReadableStream<Uint8Array<ArrayBuffer>>);
  }
}
