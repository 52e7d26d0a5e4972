//go:build linux && !wayland

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/scenes/tape"

	"github.com/zeebo/xxh3"
)

// Somebody at a keyboard steers the scene person in a window: W and D go ahead and to the right, Space jumps, 5 crouches, Q keeps the facing, and Esc
// ends the program. A second process has the window. The keys come from the X server's extension for tests.
func TestKeyboard(t *testing.T) {
	const name = "MANNEQUIN_KEYBOARD"
	if path := os.Getenv(name); path != "" {
		args := []string{"--scene", "person", "--agents", "1", "--width", "160", "--height", "120", "--seconds", "120", "--record", path}
		if code := command.Run(context.Background(), newCommand(), args, os.Stdout, os.Stderr); code != 0 {
			t.Errorf("exit %d", code)
		}
		return
	}
	needPicture(t)
	server := exec.Command("Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "640x480x24")
	out := must.Get(server.StdoutPipe())(t)
	if err := server.Start(); err != nil {
		t.Skipf("needs an X server: %v", err)
	}
	defer func() { server.Process.Kill(); server.Wait() }()
	display, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Skipf("Xvfb does not start: %v", err)
	}
	display = strings.TrimSpace(display)
	path := filepath.Join(t.TempDir(), "keys.tape")
	program := exec.Command(os.Args[0], "-test.run=^TestKeyboard$", "-test.v")
	program.Env = append(os.Environ(), name+"="+path, "DISPLAY=:"+display, "WAYLAND_DISPLAY=")
	var said bytes.Buffer
	program.Stdout, program.Stderr = &said, &said
	must.Do(t, program.Start())
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	defer program.Process.Kill()

	keys := must.Get(newKeyboard(display))(t)
	defer keys.conn.Close()
	for begin := time.Now(); !must.Get(keys.focused())(t); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("no window: %v\n%s", err, &said)
		default:
		}
		if time.Since(begin) > 5*time.Minute {
			t.Fatal("no window within five minutes")
		}
	}
	// A key is held until the program has drawn some pictures: a machine without a GPU needs a second for each.
	const w, d, q, five, space, escape = 25, 40, 24, 14, 65, 9 // key codes
	must.Do(t, keys.frames(2))
	for _, code := range []byte{w, space, d, five, q} {
		must.Do(t, keys.press(code, true))
		must.Do(t, keys.frames(3))
		must.Do(t, keys.press(code, false))
		must.Do(t, keys.frames(1))
	}
	must.Do(t, keys.press(escape, true))
	select {
	case err := <-ended:
		must.Do(t, err)
	case <-time.After(time.Minute):
		t.Fatal("Esc does not end it")
	}

	f := must.Get(os.Open(path))(t)
	defer f.Close()
	r := must.Get(tape.NewReader(f))(t)
	var ahead, aside, jump, crouch, lock int
	for {
		tick, err := r.Next()
		if err == io.EOF {
			break
		}
		must.Do(t, err)
		in := tick.Input
		for n, is := range map[*int]bool{&ahead: in.Forward > 0.7, &aside: in.Side < -0.7, &jump: in.Jump, &crouch: in.Own == 1, &lock: in.Lock} {
			if is {
				*n++
			}
		}
	}
	if min(ahead, aside, jump, crouch, lock) == 0 {
		t.Errorf("ticks ahead %d, to the right %d, crouched %d, jump %d, lock %d\n%s", ahead, aside, crouch, jump, lock, &said)
	}
	if code, stdout, stderr := demo(t, "--replay", path, "--verify"); code != 0 || !strings.Contains(stdout, "all as recorded") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
}

// keyboard presses keys of an X server that asks nobody for a password, by its extension XTEST.
type keyboard struct {
	conn net.Conn
	test byte   // the extension's code
	root uint32 // window
}

func newKeyboard(display string) (*keyboard, error) {
	conn, err := net.Dial("unix", "/tmp/.X11-unix/X"+display)
	if err != nil {
		return nil, err
	}
	k := &keyboard{conn: conn}
	if _, err := conn.Write([]byte{'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0}); err != nil { // little endian, protocol 11.0
		return nil, err
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(conn, head); err != nil {
		return nil, err
	}
	setup := make([]byte, 4*int(binary.LittleEndian.Uint16(head[6:])))
	if _, err := io.ReadFull(conn, setup); err != nil || head[0] != 1 {
		return nil, fmt.Errorf("the X server refuses: %d, %w", head[0], err)
	}
	vendor, formats := int(binary.LittleEndian.Uint16(setup[16:])), int(setup[21])
	k.root = binary.LittleEndian.Uint32(setup[32+(vendor+3)/4*4+8*formats:])              // of the first screen
	answer, err := k.ask(append([]byte{98, 0, 4, 0, 5, 0, 0, 0}, "XTEST\x00\x00\x00"...)) // QueryExtension
	if err == nil && answer[8] == 0 {
		err = fmt.Errorf("the X server has no XTEST")
	}
	k.test = answer[9]
	return k, err
}

// ask sends a request and returns the answer of 32 bytes. Events are passed over.
func (k *keyboard) ask(request []byte) (answer [32]byte, err error) {
	if _, err = k.conn.Write(request); err != nil {
		return answer, err
	}
	for err == nil && answer[0] != 1 {
		if _, err = io.ReadFull(k.conn, answer[:]); err == nil && answer[0] == 0 {
			err = fmt.Errorf("the X server answers %v", answer)
		}
	}
	return answer, err
}

// focused reports whether a window has the keyboard.
func (k *keyboard) focused() (bool, error) {
	answer, err := k.ask([]byte{43, 0, 1, 0}) // GetInputFocus
	return binary.LittleEndian.Uint32(answer[8:]) > 1, err
}

// frames waits until the picture has changed some times, as each frame does by the HUD.
func (k *keyboard) frames(n int) error {
	var last uint64
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(10 * time.Millisecond) {
		now, err := k.picture()
		if err != nil {
			return err
		}
		if now != last && last != 0 {
			n--
		}
		if last = now; n < 0 {
			return nil
		}
	}
	return fmt.Errorf("the program draws nothing for a minute")
}

// picture returns a hash of the upper left of the screen, where the window is.
func (k *keyboard) picture() (uint64, error) {
	request := make([]byte, 20) // GetImage
	request[0], request[1], request[2] = 73, 2, 5
	binary.LittleEndian.PutUint32(request[4:], k.root)
	for i, v := range [...]uint16{0, 0, 160, 120} { // the window's
		binary.LittleEndian.PutUint16(request[8+2*i:], v)
	}
	binary.LittleEndian.PutUint32(request[16:], 1<<32-1)
	answer, err := k.ask(request)
	if err != nil {
		return 0, err
	}
	image := make([]byte, 4*binary.LittleEndian.Uint32(answer[4:]))
	if _, err := io.ReadFull(k.conn, image); err != nil {
		return 0, err
	}
	return xxh3.Hash(image), nil
}

// press presses a key or lets go of it.
func (k *keyboard) press(code byte, down bool) error {
	request := make([]byte, 36) // FakeInput of KeyPress or KeyRelease
	request[0], request[1], request[2], request[4], request[5] = k.test, 2, 9, 3, code
	if down {
		request[4] = 2
	}
	_, err := k.conn.Write(request)
	return err
}
