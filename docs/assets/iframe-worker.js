/* A page that is opened from a file may not start a worker. The search runs in a hidden frame instead, behind the
   interface of a worker: postMessage, onmessage, onerror, terminate, and "message" events. */
(function () {
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      this.onerror = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      // What the code in the frame posts is what the worker says.
      inside.postToOwner = (data) => this.tell(new MessageEvent("message", { data }), this.onmessage);
      inside.failed = (message) => this.tell(new ErrorEvent("error", { message }), this.onerror);
      const script = inside.document.createElement("script");
      script.textContent =
        "window.deliver = (data) => dispatchEvent(new MessageEvent('message', { data }));" +
        "window.postMessage = (data) => postToOwner(data);" +
        "addEventListener('error', (event) => failed(event.message));";
      inside.document.body.appendChild(script);
      this.ready = new Promise((done) => {
        const code = inside.document.createElement("script");
        code.onload = done;
        code.onerror = () => inside.failed("cannot load " + address);
        code.src = String(address);
        inside.document.body.appendChild(code);
      });
    }

    tell(event, handler) {
      if (typeof handler === "function") handler.call(this, event);
      this.dispatchEvent(event);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.deliver(data));
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.Worker = FrameWorker;
})();
