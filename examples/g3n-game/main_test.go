package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The game has few lines that are about mannequin, and none of them is long: those of herd.go, and those of main.go that
// name the herd. Imports, comments and lines that only close a block do not count.
func TestLinesOfOurs(t *testing.T) {
	const widest = 120 // columns, with tabs of four
	lines := 0
	count := func(file string, ours func(line string) bool) {
		f := must(os.Open(file))
		defer f.Close()
		imports := false
		for s := bufio.NewScanner(f); s.Scan(); {
			line := strings.TrimSpace(s.Text())
			imports = line == "import (" || imports && line != ")"
			if line != "" && line != ")" && line != "}" && !imports && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "package ") && ours(line) {
				if lines++; len(strings.ReplaceAll(s.Text(), "\t", "    ")) > widest {
					t.Errorf("%s has a line of more than %d columns: %s", file, widest, line)
				}
			}
		}
	}
	count("herd.go", func(line string) bool { return true })
	count("main.go", func(line string) bool { return strings.Contains(line, "herd.") || strings.Contains(line, "newHerd(") })
	t.Logf("%d lines", lines)
	if lines > 40 {
		t.Errorf("%d lines of the game are about mannequin, at most 40 should be", lines)
	}
}

// The game runs in a window of its own, with g3n's text and camera control.
func TestWindow(t *testing.T) {
	server := exec.Command("Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "1024x768x24")
	out := must(server.StdoutPipe())
	if err := server.Start(); err != nil {
		t.Skipf("needs an X server: %v", err)
	}
	defer func() { server.Process.Kill(); server.Wait() }()
	number, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Skipf("Xvfb does not start: %v", err)
	}
	program := filepath.Join(t.TempDir(), "game")
	if text, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	game := exec.Command(program, "-seconds", "2")
	game.Env = append(os.Environ(), "DISPLAY=:"+strings.TrimSpace(number))
	defer time.AfterFunc(2*time.Minute, func() { game.Process.Kill() }).Stop()
	if text, err := game.CombinedOutput(); err != nil || strings.Contains(string(text), "Error") {
		t.Errorf("%v\n%s", err, text)
	}
}
