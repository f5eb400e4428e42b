"use strict";
// Runs the book's programs, compiled to WebAssembly, in the page. Each has a module, packed
// in programs/02.js, which is loaded when it is wanted first. A page's workbench is in the
// module of its program.
//
//   book.ready(name)            a promise of the program's module
//   book.run(name, options)     runs a program in a worker; a promise of its result
//   book.runHere(name, options) the same at once, after book.ready(name)
//   book.stop()                 ends what runs in the worker, or waits to
//   book.reasonOf(err)          what a program refuses, without the place in its source
//
// The name is that of a program, 02_softmax, or a chapter's number. Options are
// args, a list; env, an object; figures, whether it draws; as, what it is called by, if that
// is another name; files, an object: the bytes, by their names, of files that it can read, in
// the folder that its environment names MODELS. Besides, it can read the files that
// tools/web/pack has put into its module, by their paths in the book's folder. The result has
// status, out, err, figures (an object: the text of each by its name), ms, and stopped.

(() => {
  // All that a program needs of its surroundings: what it is called with, two streams
  // to write to, a folder for its figures. The methods whose names have _ are WASI's, preview 1,
  // as far as the book's programs call it; each returns 0, or what went wrong. A worker is made
  // from this class's text, so it uses nothing from around it.
  class Machine {
    static BAD_FILE = 8;
    static INVALID = 28;
    static NO_ENTRY = 44;
    static FOLDER = "/figures";
    static FOLDERS = ["/figures", "/"]; // which are there before the program begins, from 3 on

    static run(module, name, options) {
      const begin = performance.now();
      const machine = new Machine(name, options);
      const [, out, err] = machine.files;
      machine.start(module);
      const drawn = Object.entries(machine.folder).map(([file, { text }]) => [file, text]);
      return {
        status: machine.status,
        out: out.text,
        err: err.text,
        figures: Object.fromEntries(drawn),
        ms: performance.now() - begin,
        stopped: false,
      };
    }

    // A text that is written in pieces, which may end within a character.
    static file() {
      const decoder = new TextDecoder();
      const file = { text: "" };
      file.write = (bytes) => {
        file.text += decoder.decode(bytes, { stream: true });
      };
      return file;
    }

    static bytes(text) {
      return new TextEncoder().encode(text);
    }

    constructor(name, { args = [], env = {}, figures = false, as = name, files = {} }) {
      const word = (text) => Machine.bytes(`${text}\0`);
      const set = {
        MODELS: Machine.FOLDER,
        ...env,
        ...(figures && { FIGURES: Machine.FOLDER }),
      };
      this.given = files;
      this.args = [as, ...args].map(word);
      this.env = Object.entries(set).map(([key, value]) => word(`${key}=${value}`));
      this.files = [undefined, Machine.file(), Machine.file(), ...Machine.FOLDERS]; // by their numbers
      this.folder = Object.create(null); // by their names
      this.status = 0;
    }

    // What goes wrong without the program's having noticed, such as an assert or a
    // stack that is full, ends as it does in a terminal: with a line and status 134.
    start(module) {
      this.module = module;
      const instance = new WebAssembly.Instance(module, this.importsOf(module));
      this.memory = instance.exports.memory;
      try {
        instance.exports._start();
      } catch (error) {
        if (this.hasExited) return;
        this.status = 134;
        this.files[2].write(Machine.bytes(`${error.message}\n`));
      }
    }

    // A call that is not there fails when it is made, and says which it was.
    importsOf(module) {
      const imports = {};
      for (const { module: from, name } of WebAssembly.Module.imports(module)) {
        const missing = () => {
          throw new Error(`the page has no ${name}, which the program calls`);
        };
        imports[from] ??= {};
        imports[from][name] = this[name]?.bind(this) ?? missing;
      }
      return imports;
    }

    /* ---- The program's memory */

    view() {
      return new DataView(this.memory.buffer);
    }

    part(at, size) {
      return new Uint8Array(this.memory.buffer, at, size);
    }

    putNumber(at, x) {
      this.view().setUint32(at, x, true);
      return 0;
    }

    putSizes(words, countAt, sizeAt) {
      const size = words.reduce((sum, word) => sum + word.length, 0);
      this.putNumber(countAt, words.length);
      return this.putNumber(sizeAt, size);
    }

    putWords(words, listAt, textAt) {
      for (const [i, word] of words.entries()) {
        this.putNumber(listAt + 4 * i, textAt);
        this.part(textAt, word.length).set(word);
        textAt += word.length;
      }
      return 0;
    }

    /* ---- What it is called with, and how it ends */

    args_sizes_get(countAt, sizeAt) {
      return this.putSizes(this.args, countAt, sizeAt);
    }

    args_get(listAt, textAt) {
      return this.putWords(this.args, listAt, textAt);
    }

    environ_sizes_get(countAt, sizeAt) {
      return this.putSizes(this.env, countAt, sizeAt);
    }

    environ_get(listAt, textAt) {
      return this.putWords(this.env, listAt, textAt);
    }

    proc_exit(status) {
      this.status = status;
      this.hasExited = true;
      throw new Error("the program has ended");
    }

    /* ---- Its files */

    // What is written is a list of pieces of memory.
    fd_write(fd, listAt, n, doneAt) {
      if (!this.files[fd]?.write) return Machine.BAD_FILE;
      let done = 0;
      for (let i = 0; i < n; i++) {
        const at = this.view().getUint32(listAt + 8 * i, true);
        const size = this.view().getUint32(listAt + 8 * i + 4, true);
        this.files[fd].write(this.part(at, size));
        done += size;
      }
      return this.putNumber(doneAt, done);
    }

    // A file that was given, or that is a section of the module.
    readable(name) {
      if (Object.hasOwn(this.given, name)) return this.given[name];
      const [bytes] = WebAssembly.Module.customSections(this.module, name);
      return bytes && new Uint8Array(bytes);
    }

    // A file is begun anew, or it is one that can be read.
    path_open(_fd, _flags, at, size, how, _rights, _inherited, _fdflags, fdAt) {
      const CREATE = 1;
      const name = new TextDecoder().decode(this.part(at, size));
      const bytes = how & CREATE ? undefined : this.readable(name);
      if (!(how & CREATE) && !bytes) return Machine.NO_ENTRY;
      const file = how & CREATE ? Machine.file() : { bytes, at: 0 };
      if (how & CREATE) this.folder[name] = file;
      return this.putNumber(fdAt, this.files.push(file) - 1);
    }

    fd_read(fd, listAt, n, doneAt) {
      const file = this.files[fd];
      if (!file?.bytes) return Machine.BAD_FILE;
      const from = file.at;
      for (let i = 0; i < n; i++) {
        const at = this.view().getUint32(listAt + 8 * i, true);
        const size = this.view().getUint32(listAt + 8 * i + 4, true);
        const piece = file.bytes.subarray(file.at, file.at + size);
        this.part(at, size).set(piece);
        file.at += piece.length;
      }
      return this.putNumber(doneAt, file.at - from);
    }

    // From the start, from here, or from the end.
    fd_seek(fd, by, whence, toAt) {
      const file = this.files[fd];
      if (!file?.bytes) return Machine.BAD_FILE;
      const at = [0, file.at, file.bytes.length][whence] + Number(by);
      if (at < 0) return Machine.INVALID;
      file.at = at;
      this.view().setBigUint64(toAt, BigInt(file.at), true);
      return 0;
    }

    fd_close(fd) {
      if (!this.files[fd]) return Machine.BAD_FILE;
      this.files[fd] = undefined;
      return 0;
    }

    // What kind of thing a file is, and that all may be done with it.
    fd_fdstat_get(fd, at) {
      const [DIRECTORY, REGULAR] = [3, 4];
      if (!this.files[fd]) return Machine.BAD_FILE;
      this.part(at, 24).fill(0);
      this.view().setUint8(at, Machine.FOLDERS.includes(this.files[fd]) ? DIRECTORY : REGULAR);
      this.part(at + 8, 16).fill(255);
      return 0;
    }

    fd_prestat_get(fd, at) {
      if (!Machine.FOLDERS.includes(this.files[fd])) return Machine.BAD_FILE;
      this.putNumber(at, 0);
      return this.putNumber(at + 4, this.files[fd].length);
    }

    fd_prestat_dir_name(fd, at, size) {
      this.part(at, size).set(Machine.bytes(this.files[fd]).subarray(0, size));
      return 0;
    }
  }

  globalThis.book ??= {};
  const { book } = globalThis;
  const loading = {}; // the promises of modules, by their names
  const modules = {}; // those that are there
  let worker;
  let running; // what book.run has promised: {resolve, reject}

  // ------------------------------------------------------------- the modules

  const moduleOf = (name) => `programs/${name.replace(/_.*/, "")}`;

  async function load(module) {
    modules[module] = await WebAssembly.compile(await book.unpack(module));
    return modules[module];
  }

  // Without a module there is a next time.
  book.ready = (name) => {
    const module = moduleOf(name);
    loading[module] ??= load(module).catch((error) => {
      delete loading[module];
      throw error;
    });
    return loading[module];
  };

  // -------------------------------------------------------------- running

  function settle(how, what) {
    running[how](what);
    running = undefined;
  }

  function endWorker() {
    worker?.terminate();
    worker = undefined;
  }

  function makeWorker() {
    const text = `"use strict";
      ${Machine}
      onmessage = ({ data }) => postMessage(Machine.run(data.module, data.name, data.options));`;
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const made = new Worker(address);
    URL.revokeObjectURL(address);
    made.onmessage = ({ data }) => settle("resolve", data);
    made.onerror = (event) => {
      endWorker();
      settle("reject", new Error(event.message || "the page's worker has failed"));
    };
    return made;
  }

  // As the keys Ctrl and C in a terminal, whose status this is.
  const STOPPED = { status: 130, out: "", err: "", figures: {}, ms: 0, stopped: true };

  // One program at a time: it ends the one before.
  book.run = (name, options = {}) => {
    book.stop();
    return new Promise((resolve, reject) => {
      const mine = { resolve, reject };
      running = mine;
      const begin = (module) => {
        if (mine !== running) return; // stopped while the module was loaded
        worker ??= makeWorker();
        worker.postMessage({ module, name, options });
      };
      book.ready(name).then(begin).catch(reject);
    });
  };

  book.stop = () => {
    if (!running) return;
    endWorker();
    settle("resolve", STOPPED);
  };

  book.runHere = (name, options = {}) => {
    const module = modules[moduleOf(name)];
    if (!module) throw new Error(`book.runHere: ${name} is not there before book.ready(name)`);
    return Machine.run(module, name, options);
  };

  // A refusal's line, without the place in the program that it names.
  book.reasonOf = (err) =>
    err.trim().replace(/^[\w.]+: (\w+: )?/, "") || "the program ended without a word";
})();
