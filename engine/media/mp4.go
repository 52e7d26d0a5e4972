package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"mannequin/internal/atomicfile"
)

// FFmpeg returns the path of the ffmpeg program, or ErrNoFFmpeg.
func FFmpeg() (string, error) {
	p, err := exec.LookPath("ffmpeg")
	if err != nil {
		return "", ErrNoFFmpeg
	}
	return p, nil
}

// mp4Writer pipes raw frames to ffmpeg, which writes the temporary file.
type mp4Writer struct {
	base
	file    *atomicfile.File
	cmd     *exec.Cmd
	stop    context.CancelFunc
	in      io.WriteCloser
	log     tail
	scratch []byte
}

func newMP4(b base) (Writer, error) {
	prog, err := FFmpeg()
	if err != nil {
		return nil, err
	}
	file, err := atomicfile.Create(b.path)
	if err != nil {
		return nil, fmt.Errorf("media: %w", err)
	}
	w := &mp4Writer{base: b, file: file}
	codec := []string{"-c:v", "libx264", "-preset", "veryfast", "-crf", "20"}
	if !hasX264(b.ctx, prog) {
		codec = []string{"-c:v", "mpeg4", "-q:v", "3"}
	}
	args := []string{"-hide_banner", "-loglevel", "error", "-nostdin", "-y",
		"-f", "rawvideo", "-pix_fmt", "rgba", "-s", fmt.Sprintf("%dx%d", b.opt.Width, b.opt.Height),
		"-r", fmt.Sprint(b.opt.FPS), "-i", "pipe:0"}
	args = append(args, codec...)
	// Players want 4:2:0, which needs even sizes; bitexact omits encoder version and date.
	args = append(args, "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p",
		"-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart", "-f", "mp4", file.Temp())
	ctx, stop := context.WithCancel(b.ctx)
	w.stop = stop
	w.cmd = exec.CommandContext(ctx, prog, args...)
	w.cmd.Stderr = &w.log
	w.cmd.WaitDelay = 5 * time.Second
	if w.in, err = w.cmd.StdinPipe(); err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		stop()
		file.Abort()
		return nil, fmt.Errorf("media: cannot start ffmpeg: %w", err)
	}
	return w, nil
}

// hasX264 reports whether ffmpeg has H.264, which plays everywhere. Others have MPEG-4 part 2.
func hasX264(ctx context.Context, prog string) bool {
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, prog, "-hide_banner", "-encoders").Output()
	return err == nil && bytes.Contains(out, []byte(" libx264 "))
}

func (w *mp4Writer) Frame(img *image.RGBA) error {
	if err := w.accept(img); err != nil {
		return err
	}
	var px []byte
	px, w.scratch = bytesOf(img, w.scratch)
	if _, err := w.in.Write(px); err != nil {
		w.in.Close()
		return w.failed(errors.Join(w.cmd.Wait(), err))
	}
	return nil
}

// failed returns the error after ffmpeg ended: the caller's cancellation, or ffmpeg's last line.
func (w *mp4Writer) failed(err error) error {
	if ctxErr := w.ctx.Err(); ctxErr != nil {
		return fmt.Errorf("media: stopped; %s was not written: %w", w.path, ctxErr)
	}
	if s := strings.ReplaceAll(w.log.String(), w.file.Temp(), w.path); s != "" {
		return fmt.Errorf("media: %s: ffmpeg: %s", w.path, s)
	}
	return fmt.Errorf("media: %s: ffmpeg: %w", w.path, err)
}

func (w *mp4Writer) Close() error {
	defer w.Abort()
	if err := w.finish(); err != nil {
		return err
	}
	w.in.Close()
	if err := w.cmd.Wait(); err != nil {
		return w.failed(err)
	}
	if err := w.file.Commit(); err != nil {
		return fmt.Errorf("media: %w", err)
	}
	return nil
}

func (w *mp4Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.stop()
	w.in.Close()
	w.cmd.Wait() // fails only if it was stopped or already waited for
	w.file.Abort()
}

// tail keeps the last line written to it, up to 400 bytes.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - 400; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(string(t.b))
	return s[strings.LastIndexByte(s, '\n')+1:]
}
