package main

import (
	"errors"
	"fmt"
	"syscall/js"
)

// page is the interface of page.js: everything of the page except the canvas.
var page = js.Global().Get("page")

// maxFile limits the size of a fetched file, bytes.
const maxFile = 256 << 20

// offer passes the list of scenes and the current setup to the page. The script of a cutscene sets
// its agents and terrain.
func offer(a *address) {
	usual := map[string]any{}
	for _, name := range names {
		d := defaults(name)
		usual[name] = map[string]any{"agents": d.Agents, "terrain": d.Terrain, "scripted": name == "cutscene"}
	}
	page.Call("offer", usual, map[string]any{"scene": a.Scene, "agents": a.Agents, "terrain": a.Terrain, "backend": a.backend})
}

// lines converts s for JavaScript.
func lines(s []string) []any {
	out := make([]any, len(s))
	for i := range s {
		out[i] = s[i]
	}
	return out
}

// fetch returns a file that lies beside the page. Meanwhile the page shows the progress.
func fetch(file string) ([]byte, error) {
	v, err := await(page.Call("fetch", file))
	if err != nil {
		return nil, err
	}
	n := v.Length()
	if n > maxFile {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", file, n, maxFile)
	}
	b := make([]byte, n)
	js.CopyBytesToGo(b, v)
	return b, nil
}

func await(promise js.Value) (v js.Value, err error) {
	done := make(chan struct{})
	then := func(set func(result js.Value)) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			set(args[0])
			close(done)
			return nil
		})
	}
	kept := then(func(result js.Value) { v = result })
	broken := then(func(result js.Value) { err = errors.New(result.Get("message").String()) })
	defer kept.Release()
	defer broken.Release()
	promise.Call("then", kept, broken)
	<-done
	return v, err
}

// bytesOutside copies b into JavaScript's memory.
func bytesOutside(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}
