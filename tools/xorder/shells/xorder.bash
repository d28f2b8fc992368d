# Completion for bash. The program knows its commands, options and values; where it knows none, bash completes files.
_xorder() {
  local word words=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    [[ $word == = ]] || words+=("$word") # bash takes --io=direct apart
  done
  [[ ${COMP_WORDS[COMP_CWORD]} != = ]] || words+=("")
  mapfile -t COMPREPLY < <("$1" __complete "${words[@]}" 2>/dev/null)
}
complete -o default -F _xorder xorder
