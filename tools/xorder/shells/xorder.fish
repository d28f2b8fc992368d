# Completion for fish, which adds files by itself. The program knows its commands, options and values.
function __xorder_complete
    set -l words (commandline -opc) (commandline -ct)
    command $words[1] __complete $words[2..] 2>/dev/null
end
complete -c xorder -a '(__xorder_complete)'
