# fish completion for gophd(8): the program itself says what may come next.
function __gophd_next
    set -l asked (commandline -opc)
    set -l current (commandline -ct)
    string match -q -- '-*' $current; and set -a asked $current
    $asked --generate-bash-completion 2>/dev/null | string replace -r "^--" -
end
complete -c gophd -a '(__gophd_next)'
