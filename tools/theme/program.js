"use strict";
// Runs the book's programs, compiled to WebAssembly, in the page. Each has a module, packed
// in programs/02.js, which is loaded when it is wanted first. A page's workbench is in the
// module of its program.
//
//   book.ready(name)            a promise of the program's module
//   book.run(name, options)     runs a program in a worker; a promise of its result
//   book.runHere(name, options) the same at once, after book.ready(name)
//   book.stop()                 ends what runs in the worker, or waits to
//
// The name is that of a program, 02_softmax, or a chapter's number. Options are
// args, a list; env, an object; figures, whether it draws; as, what it is called by,
// if that is another name. The result has status, out, err, figures (an object: the
// text of each by its name), ms, and stopped.

(() => {
  // All that a program needs of its surroundings: what it is called with, two streams
  // to write to, a folder for its figures. They are WASI's, preview 1, as far as the
  // book's programs call it. A worker is made from this function's text, so it uses
  // nothing from around it.
  function makeRunner() {
    const OK = 0;
    const BAD_FILE = 8;
    const NO_ENTRY = 44;
    const ROOT = 3; // the one folder, which is there before the program begins
    const FOLDER = "/figures";
    const toBytes = new TextEncoder();

    class Exit extends Error {}

    // A text that is written in pieces, which may end within a character.
    function makeFile() {
      const decoder = new TextDecoder();
      const file = { text: "" };
      file.write = (bytes) => {
        file.text += decoder.decode(bytes, { stream: true });
      };
      return file;
    }

    function makeMachine(name, { args = [], env = {}, figures = false, as = name }) {
      const word = (text) => toBytes.encode(`${text}\0`);
      const set = { ...env, ...(figures && { FIGURES: FOLDER }) };
      return {
        args: [as, ...args].map(word),
        env: Object.entries(set).map(([key, value]) => word(`${key}=${value}`)),
        files: [undefined, makeFile(), makeFile(), FOLDER], // by their numbers
        folder: Object.create(null), // by their names
        status: 0,
      };
    }

    // The functions that the module imports. The machine's memory is there only once
    // the module is.
    function makeCalls(machine) {
      const { files, folder } = machine;
      const view = () => new DataView(machine.memory.buffer);
      const part = (at, size) => new Uint8Array(machine.memory.buffer, at, size);
      const nameAt = (at, size) => new TextDecoder().decode(part(at, size));

      function putNumber(at, x) {
        view().setUint32(at, x, true);
        return OK;
      }

      function putSizes(words, countAt, sizeAt) {
        const size = words.reduce((sum, word) => sum + word.length, 0);
        putNumber(countAt, words.length);
        return putNumber(sizeAt, size);
      }

      function putWords(words, listAt, textAt) {
        for (const [i, word] of words.entries()) {
          putNumber(listAt + 4 * i, textAt);
          part(textAt, word.length).set(word);
          textAt += word.length;
        }
        return OK;
      }

      // What is written is a list of pieces of memory.
      function write(fd, listAt, n, doneAt) {
        if (!files[fd]?.write) return BAD_FILE;
        let done = 0;
        for (let i = 0; i < n; i++) {
          const at = view().getUint32(listAt + 8 * i, true);
          const size = view().getUint32(listAt + 8 * i + 4, true);
          files[fd].write(part(at, size));
          done += size;
        }
        return putNumber(doneAt, done);
      }

      // A file is begun anew: there is none to be read.
      function open(_fd, _flags, at, size, how, _rights, _inherited, _fdflags, fdAt) {
        const CREATE = 1;
        if (!(how & CREATE)) return NO_ENTRY;
        const file = makeFile();
        folder[nameAt(at, size)] = file;
        return putNumber(fdAt, files.push(file) - 1);
      }

      function close(fd) {
        if (!files[fd]) return BAD_FILE;
        files[fd] = undefined;
        return OK;
      }

      // What kind of thing a file is, and that all may be done with it.
      function describe(fd, at) {
        const DIRECTORY = 3;
        const REGULAR = 4;
        if (!files[fd]) return BAD_FILE;
        part(at, 24).fill(0);
        view().setUint8(at, fd === ROOT ? DIRECTORY : REGULAR);
        part(at + 8, 16).fill(255);
        return OK;
      }

      function describeFolder(fd, at) {
        if (fd !== ROOT) return BAD_FILE;
        putNumber(at, 0);
        return putNumber(at + 4, FOLDER.length);
      }

      function nameFolder(_fd, at, size) {
        part(at, size).set(toBytes.encode(FOLDER).subarray(0, size));
        return OK;
      }

      return {
        args_sizes_get: (count, size) => putSizes(machine.args, count, size),
        args_get: (list, text) => putWords(machine.args, list, text),
        environ_sizes_get: (count, size) => putSizes(machine.env, count, size),
        environ_get: (list, text) => putWords(machine.env, list, text),
        fd_prestat_get: describeFolder,
        fd_prestat_dir_name: nameFolder,
        fd_fdstat_get: describe,
        fd_write: write,
        fd_close: close,
        path_open: open,
        proc_exit: (status) => {
          machine.status = status;
          throw new Exit();
        },
      };
    }

    // A call that is not there fails when it is made, and says which it was.
    function importsOf(module, machine) {
      const calls = makeCalls(machine);
      const imports = {};
      for (const { module: from, name } of WebAssembly.Module.imports(module)) {
        const missing = () => {
          throw new Error(`the page has no ${name}, which the program calls`);
        };
        imports[from] ??= {};
        imports[from][name] = calls[name] ?? missing;
      }
      return imports;
    }

    // What goes wrong without the program's having noticed, such as an assert or a
    // stack that is full, ends as it does in a terminal: with a line and status 134.
    function start(module, machine) {
      const instance = new WebAssembly.Instance(module, importsOf(module, machine));
      machine.memory = instance.exports.memory;
      try {
        instance.exports._start();
      } catch (error) {
        if (error instanceof Exit) return;
        machine.status = 134;
        machine.files[2].write(toBytes.encode(`${error.message}\n`));
      }
    }

    return (module, name, options) => {
      const begin = performance.now();
      const machine = makeMachine(name, options);
      const [, out, err] = machine.files;
      start(module, machine);
      const drawn = Object.entries(machine.folder).map(([file, { text }]) => [file, text]);
      return {
        status: machine.status,
        out: out.text,
        err: err.text,
        figures: Object.fromEntries(drawn),
        ms: performance.now() - begin,
        stopped: false,
      };
    };
  }

  globalThis.book ??= {};
  const { book } = globalThis;
  const runner = makeRunner();
  const loading = {}; // the promises of modules, by their names
  const modules = {}; // those that are there
  let worker;
  let running; // what book.run has promised: {resolve, reject}
  let turn = Promise.resolve(); // of the program that was asked for last
  let stopped = makeStop(); // of what was asked for since the last stop: {promise, resolve}

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
      const run = (${makeRunner})();
      onmessage = ({ data }) => postMessage(run(data.module, data.name, data.options));`;
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

  function makeStop() {
    const stop = {};
    stop.promise = new Promise((resolve) => {
      stop.resolve = resolve;
    });
    return stop;
  }

  // One program at a time. What is stopped before its turn, or while the module is loaded,
  // does not begin.
  book.run = (name, options = {}) => {
    const mine = stopped;
    const result = turn.then(async () => {
      const module = await book.ready(name);
      if (mine !== stopped) return STOPPED;
      worker ??= makeWorker();
      return new Promise((resolve, reject) => {
        running = { resolve, reject };
        worker.postMessage({ module, name, options });
      });
    });
    turn = result.catch(() => {}); // whoever asked for it is told; the next may go on
    return Promise.race([result, mine.promise]);
  };

  book.stop = () => {
    stopped.resolve(STOPPED);
    stopped = makeStop();
    if (!running) return;
    endWorker();
    settle("resolve", STOPPED);
  };

  book.runHere = (name, options = {}) => {
    const module = modules[moduleOf(name)];
    if (!module) throw new Error(`book.runHere: ${name} is not there before book.ready(name)`);
    return runner(module, name, options);
  };
})();
