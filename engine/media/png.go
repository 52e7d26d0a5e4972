package media

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mannequin/internal/atomicfile"
)

// pngWriter collects frames in a hidden folder beside the target.
type pngWriter struct {
	base
	folder *atomicfile.Folder
	enc    png.Encoder
}

func newPNG(b base) (Writer, error) {
	folder, err := atomicfile.CreateFolder(b.path)
	if err != nil {
		return nil, fmt.Errorf("media: %w", err)
	}
	// Speed matters more than size: a frame takes longer to compress well than to render.
	return &pngWriter{base: b, folder: folder, enc: png.Encoder{CompressionLevel: png.BestSpeed}}, nil
}

func frameName(i int) string { return fmt.Sprintf("frame_%05d.png", i) }

func (w *pngWriter) Frame(img *image.RGBA) error {
	if err := w.accept(img); err != nil {
		return err
	}
	if err := w.folder.Write(frameName(w.frames-1), func(f io.Writer) error { return w.enc.Encode(f, img) }); err != nil {
		return fmt.Errorf("media: %w", err)
	}
	return nil
}

func (w *pngWriter) Close() error {
	defer w.Abort()
	if err := w.finish(); err != nil {
		return err
	}
	if err := w.folder.Commit(); err != nil {
		return fmt.Errorf("media: %w", err)
	}
	// A longer sequence that was there before has more frames.
	for i := w.frames; ; i++ {
		err := os.Remove(filepath.Join(w.path, frameName(i)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return fmt.Errorf("media: %w", err)
		}
	}
}

func (w *pngWriter) Abort() {
	if !w.done {
		w.done = true
		w.folder.Abort()
	}
}
