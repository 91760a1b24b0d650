package servers

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the server even where the test process is killed and runs
// no cleanup.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
