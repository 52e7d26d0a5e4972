package main

import (
	"errors"
	"fmt"
	"syscall/js"

	"mannequin/scenes/playbill"
)

// page is what page.js does for us: all of the page but the canvas.
var page = js.Global().Get("page")

// maxFile bounds a file that is fetched, bytes.
const maxFile = 256 << 20

// offer tells the page which scenes there are, and what is played. Who plays in a cutscene,
// and where, is its script's business.
func offer(s *playbill.Setup) {
	usual := map[string]any{}
	for _, name := range playbill.Scenes {
		d := defaults(name)
		usual[name] = map[string]any{"agents": d.Agents, "terrain": d.Terrain, "scripted": name == "cutscene"}
	}
	page.Call("offer", usual, map[string]any{"scene": s.Scene, "agents": s.Agents, "terrain": s.Terrain})
}

// lines returns s as JavaScript takes it.
func lines(s []string) []any {
	out := make([]any, len(s))
	for i := range s {
		out[i] = s[i]
	}
	return out
}

// fetch returns a file that lies beside the page. It waits for the network, while the
// page shows how far it is.
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

// await returns what a promise becomes.
func await(promise js.Value) (v js.Value, err error) {
	done := make(chan struct{})
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any {
		v = args[0]
		close(done)
		return nil
	})
	broken := js.FuncOf(func(_ js.Value, args []js.Value) any {
		err = errors.New(args[0].Get("message").String())
		close(done)
		return nil
	})
	defer kept.Release()
	defer broken.Release()
	promise.Call("then", kept, broken)
	<-done
	return v, err
}

// bytesOutside copies b to where JavaScript sees it.
func bytesOutside(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}
