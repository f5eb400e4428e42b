"use strict";
// Runs the book's programs, compiled to WebAssembly, in the page. Their module,
// all of them as one, is packed in module.js, which is loaded when it is wanted
// first: by a script tag, as that works from the disk as well.
//
//   book.ready()               a promise that is kept when the module is there
//   book.run(name, options)    runs a program in a worker; a promise of its result
//   book.runHere(name, options) the same at once, after book.ready()
//   book.stop()                ends what runs in the worker
//
// The name is that of a program, 02_softmax, or a chapter's number. Options are
// args, a list; env, an object; figures, whether it draws. The result has status,
// out, err, figures (an object: the text of each by its name), ms, and stopped.

(() => {
  // All that a program needs of its surroundings: what it is called with, two
  // streams to write to, files in memory. They are WASI's, preview 1, as far as the
  // book's programs ask for it. A worker is made from this function's text, so it
  // uses nothing from around it.
  function makeRunner() {
    const OK = 0;
    const BAD_FILE = 8;
    const NO_ENTRY = 44;
    const NO_SEEK = 70;
    const ROOT = 3; // the one folder, which is there before the program begins
    const FOLDER = "/figures";
    const toBytes = new TextEncoder();
    const toText = new TextDecoder();

    class Exit extends Error {}

    // Bytes that grow at their end or are written over.
    function makeFile() {
      return { bytes: new Uint8Array(256), size: 0, at: 0 };
    }

    function write(file, bytes) {
      const end = file.at + bytes.length;
      if (end > file.bytes.length) {
        const larger = new Uint8Array(2 * end);
        larger.set(file.bytes.subarray(0, file.size));
        file.bytes = larger;
      }
      file.bytes.set(bytes, file.at);
      file.at = end;
      file.size = Math.max(file.size, end);
    }

    function read(file, bytes) {
      const n = Math.max(0, Math.min(bytes.length, file.size - file.at));
      bytes.set(file.bytes.subarray(file.at, file.at + n));
      file.at += n;
      return n;
    }

    function textOf(file) {
      return toText.decode(file.bytes.subarray(0, file.size));
    }

    // The functions that the module imports. `machine` has the memory, which is
    // there only once the module is, and what the program was given.
    function makeCalls(machine) {
      const { files, folder } = machine;
      const view = () => new DataView(machine.memory.buffer);
      const part = (at, size) => new Uint8Array(machine.memory.buffer, at, size);
      const path = (at, size) => toText.decode(part(at, size));

      function putNumber(at, x) {
        view().setUint32(at, x, true);
        return OK;
      }

      function putSizes(words, countAt, sizeAt) {
        putNumber(countAt, words.length);
        return putNumber(
          sizeAt,
          words.reduce((sum, word) => sum + word.length, 0),
        );
      }

      function putWords(words, listAt, textAt) {
        for (const [i, word] of words.entries()) {
          putNumber(listAt + 4 * i, textAt);
          part(textAt, word.length).set(word);
          textAt += word.length;
        }
        return OK;
      }

      // Goes through a list of pieces of memory and says how far that went.
      function eachPiece(fd, listAt, n, doneAt, move) {
        if (!files[fd]) return BAD_FILE;
        let done = 0;
        for (let i = 0; i < n; i++) {
          const at = view().getUint32(listAt + 8 * i, true);
          const size = view().getUint32(listAt + 8 * i + 4, true);
          done += move(files[fd], part(at, size));
        }
        return putNumber(doneAt, done);
      }

      function store(file, bytes) {
        write(file, bytes);
        return bytes.length;
      }

      function close(fd) {
        if (!files[fd]) return BAD_FILE;
        files[fd] = undefined;
        return OK;
      }

      function open(_fd, _flags, at, size, how, _rights, _inherited, _fdflags, fdAt) {
        const CREATE = 1;
        const TRUNCATE = 8;
        const name = path(at, size);
        if (!folder[name] && !(how & CREATE)) return NO_ENTRY;
        if (!folder[name] || how & TRUNCATE) folder[name] = makeFile();
        folder[name].at = 0;
        files.push(folder[name]);
        return putNumber(fdAt, files.length - 1);
      }

      function remove(_fd, at, size) {
        const name = path(at, size);
        if (!folder[name]) return NO_ENTRY;
        delete folder[name];
        return OK;
      }

      function seek(fd, offset, from, at) {
        const file = files[fd];
        if (!file || fd <= ROOT) return NO_SEEK;
        file.at = Number(offset) + [0, file.at, file.size][from];
        view().setBigUint64(at, BigInt(file.at), true);
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
        if (fd !== ROOT || !files[fd]) return BAD_FILE;
        putNumber(at, 0);
        return putNumber(at + 4, FOLDER.length);
      }

      function nameFolder(_fd, at, size) {
        part(at, size).set(toBytes.encode(FOLDER).subarray(0, size));
        return OK;
      }

      function tellTime(_clock, _precision, at) {
        view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
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
        fd_fdstat_set_flags: () => OK,
        fd_write: (fd, list, n, done) => eachPiece(fd, list, n, done, store),
        fd_read: (fd, list, n, done) => eachPiece(fd, list, n, done, read),
        fd_seek: seek,
        fd_close: close,
        path_open: open,
        path_unlink_file: remove,
        path_remove_directory: () => NO_ENTRY,
        clock_time_get: tellTime,
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
        imports[from] ??= {};
        imports[from][name] =
          calls[name] ??
          (() => {
            throw new Error(`the page has no ${name}, which the program calls`);
          });
      }
      return imports;
    }

    function makeMachine(name, { args = [], env = {}, figures = false }) {
      const word = (text) => toBytes.encode(`${text}\0`);
      const set = { ...env, ...(figures && { FIGURES: FOLDER }) };
      return {
        args: [name, ...args].map(word),
        env: Object.entries(set).map(([key, value]) => word(`${key}=${value}`)),
        files: [makeFile(), makeFile(), makeFile(), makeFile()],
        folder: Object.create(null),
        status: 0,
      };
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
        write(machine.files[2], toBytes.encode(`${error.message}\n`));
      }
    }

    return (module, name, options) => {
      const begin = performance.now();
      const machine = makeMachine(name, options);
      const [, out, err] = machine.files;
      start(module, machine);
      const drawn = Object.entries(machine.folder).map(([file, it]) => [file, textOf(it)]);
      return {
        status: machine.status,
        out: textOf(out),
        err: textOf(err),
        figures: Object.fromEntries(drawn),
        ms: performance.now() - begin,
        stopped: false,
      };
    };
  }

  globalThis.book ??= {};
  const { book } = globalThis;
  const runner = makeRunner();
  let module; // compiled
  let loading; // the promise of it
  let worker;
  let running; // what book.run has promised: {resolve, reject}
  let turn = Promise.resolve(); // of the program that was asked for last

  // -------------------------------------------------------------- the module

  function loadScript(address) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${address} cannot be loaded`));
      document.head.append(script);
    });
  }

  async function unpack(text) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  async function load() {
    if (!book.module) await loadScript("module.js");
    module = await WebAssembly.compile(await unpack(book.module));
    delete book.module; // only the compiled one is needed from here on
  }

  // Without a module there is a next time.
  book.ready = () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  // -------------------------------------------------------------- running

  function settle(how, what) {
    const { [how]: tell } = running;
    running = undefined;
    tell(what);
  }

  function endWorker() {
    worker?.terminate();
    worker = undefined;
  }

  function makeWorker() {
    const text = `"use strict";
      const run = (${makeRunner})();
      let module;
      onmessage = ({ data }) => {
        if (data.module) module = data.module;
        else postMessage(run(module, data.name, data.options));
      };`;
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const made = new Worker(address);
    URL.revokeObjectURL(address);
    made.onmessage = ({ data }) => settle("resolve", data);
    made.onerror = (event) => {
      endWorker();
      settle("reject", new Error(event.message || "the page's worker has failed"));
    };
    made.postMessage({ module });
    return made;
  }

  // One program at a time.
  book.run = (name, options = {}) => {
    const result = turn.then(async () => {
      await book.ready();
      worker ??= makeWorker();
      return new Promise((resolve, reject) => {
        running = { resolve, reject };
        worker.postMessage({ name, options });
      });
    });
    turn = result.catch(() => {}); // whoever asked for it is told; the next may go on
    return result;
  };

  // As the keys Ctrl and C in a terminal, whose status this is.
  book.stop = () => {
    if (!running) return;
    endWorker();
    settle("resolve", { status: 130, out: "", err: "", figures: {}, ms: 0, stopped: true });
  };

  book.runHere = (name, options = {}) => {
    if (!module) throw new Error("book.runHere: the module is not there before book.ready()");
    return runner(module, name, options);
  };
})();
