package diag_test

import (
	"fmt"

	"github.com/gophd/gophd/diag"
)

func ExampleCommand() {
	fmt.Println(diag.Command("chmod", "o+x", "--", "/home/ann"))
	fmt.Println(diag.Command("mv", "--", "-old", "it's new"))
	fmt.Println(diag.Command("rm", "--", "a\n$(reboot)"))
	// Output:
	// chmod o+x /home/ann
	// mv -- -old 'it'\''s new'
	// rm "$(printf 'a\012\044\050reboot\051')"
}
