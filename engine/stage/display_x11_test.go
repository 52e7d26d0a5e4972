//go:build linux && !wayland

package stage

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

// drawVar marks the copy of this test that opens the window.
const drawVar = "MANNEQUIN_DRAW_UNTIL_THE_DISPLAY_GOES"

// A program whose X server ends gets an error and keeps running.
func TestLostDisplay(t *testing.T) {
	if os.Getenv(drawVar) != "" {
		drawUntilLost()
		return
	}
	server := exec.Command("Xvfb", "-displayfd", "1", "-nolisten", "tcp")
	out := must.Get(server.StdoutPipe())(t)
	if err := server.Start(); err != nil {
		t.Skipf("needs an X server to end: %v", err)
	}
	number, err := bufio.NewReader(out).ReadString('\n')
	stop := func() { server.Process.Kill(); server.Wait() }
	defer stop()
	if err != nil {
		t.Skipf("Xvfb does not start: %v", err)
	}
	program := exec.Command(os.Args[0], "-test.run=^TestLostDisplay$", "-test.v")
	program.Env = append(os.Environ(), drawVar+"=1", "DISPLAY=:"+strings.TrimSpace(number))
	told := must.Get(program.StdoutPipe())(t)
	must.Do(t, program.Start())
	defer time.AfterFunc(time.Minute, func() { program.Process.Kill() }).Stop()
	var all []string
	for lines := bufio.NewScanner(told); lines.Scan(); {
		if all = append(all, lines.Text()); strings.HasSuffix(lines.Text(), "drawing") {
			stop()
		}
	}
	program.Wait()
	text := strings.Join(all, "\n")
	if strings.Contains(text, "SKIP") {
		t.Skip(text)
	}
	if !strings.Contains(text, "the display has gone") || !strings.HasSuffix(text, "closed") {
		t.Errorf("the program printed:\n%s", text)
	}
}

func drawUntilLost() {
	s, err := Open(Options{Title: "lost", Width: 64, Height: 64})
	if err != nil {
		fmt.Println("SKIP:", err)
		return
	}
	for i := range 100000 {
		s.Poll()
		if err = s.Draw(View{}); err != nil {
			break
		}
		s.Present()
		if i == 2 {
			fmt.Println("drawing")
		}
	}
	s.Close()
	fmt.Println(err)
	fmt.Println("closed")
	// With the race detector a program ends by C's exit, in which Mesa waits for the
	// server; without it Go asks the kernel.
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
