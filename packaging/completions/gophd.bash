# bash completion for gophd(8): the program itself says what may come next.
_gophd() {
	local cur words
	cur=${COMP_WORDS[COMP_CWORD]}
	words=("${COMP_WORDS[@]:0:COMP_CWORD}")
	[[ $cur != -* ]] || words+=("$cur")
	COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null | sed 's/^--/-/')" -- "$cur"))
	[[ ${#COMPREPLY[@]} -gt 0 || $cur == -* ]] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -o bashdefault -F _gophd gophd
