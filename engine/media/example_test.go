package media_test

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"

	"mannequin/engine/media"
)

// Abort is deferred: it does nothing after a successful Close, else the target stays.
func ExampleCreate() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	save := func(path string) error {
		w, err := media.Create(context.Background(), path, media.Options{Width: 32, Height: 16, FPS: 25})
		if err != nil {
			return err
		}
		defer w.Abort()
		img := image.NewRGBA(image.Rect(0, 0, 32, 16))
		for range 3 {
			if err := w.Frame(img); err != nil {
				return err
			}
		}
		return w.Close()
	}
	fmt.Println(save(filepath.Join(dir, "walk.gif")))
	fmt.Println(save("walk.mov"))
	// Output:
	// <nil>
	// media: walk.mov: cannot write ".mov": use .mp4, .gif, or a name without extension for a folder of PNGs
}
