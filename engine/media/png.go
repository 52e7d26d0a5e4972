package media

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"

	"mannequin/internal/atomicfile"
)

// pngWriter collects frames in a hidden folder beside the target.
type pngWriter struct {
	base
	tmp string
	enc png.Encoder
}

func newPNG(b base) (Writer, error) {
	b.path = filepath.Clean(b.path)
	tmp, err := os.MkdirTemp(filepath.Dir(b.path), "."+filepath.Base(b.path)+".tmp*")
	if err != nil {
		return nil, fmt.Errorf("media: %w", err)
	}
	// Speed matters more than size: a frame takes longer to compress well than to render.
	return &pngWriter{base: b, tmp: tmp, enc: png.Encoder{CompressionLevel: png.BestSpeed}}, nil
}

func frameName(i int) string { return fmt.Sprintf("frame_%05d.png", i) }

func (w *pngWriter) Frame(img *image.RGBA) error {
	if err := w.accept(img); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(w.tmp, frameName(w.frames-1)), func(f io.Writer) error {
		return w.enc.Encode(f, img)
	})
}

func (w *pngWriter) Close() error {
	defer w.Abort()
	if err := w.finish(); err != nil {
		return err
	}
	if err := os.Chmod(w.tmp, 0o755); err != nil {
		return fmt.Errorf("media: %w", err)
	}
	if err := os.Rename(w.tmp, w.path); err == nil {
		return nil
	}
	// The folder is not empty: replace its frames, and remove those of a longer sequence.
	old, err := filepath.Glob(filepath.Join(w.path, "frame_[0-9][0-9][0-9][0-9][0-9].png"))
	if err != nil {
		return fmt.Errorf("media: %w", err)
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return fmt.Errorf("media: %w", err)
		}
	}
	for i := range w.frames {
		if err := os.Rename(filepath.Join(w.tmp, frameName(i)), filepath.Join(w.path, frameName(i))); err != nil {
			return fmt.Errorf("media: %w", err)
		}
	}
	return nil
}

func (w *pngWriter) Abort() {
	if !w.done {
		w.done = true
		os.RemoveAll(w.tmp)
	}
}
