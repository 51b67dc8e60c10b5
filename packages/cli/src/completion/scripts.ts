/** The shells that have a script. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
/** A shell that has a script. */
export type Shell = (typeof SHELLS)[number];

/** A line of the answer that means: complete with the names of files. */
export const FILES = ":files";

/** The command line that installs the completion, by shell. */
export const INSTALL: Readonly<Record<Shell, string>> = {
  bash: "echo 'eval \"$(bough completion bash)\"' >> ~/.bashrc",
  zsh: "echo 'eval \"$(bough completion zsh)\"' >> ~/.zshrc",
  fish: "bough completion fish > ~/.config/fish/completions/bough.fish",
};

// bash divides words at `=` and `:` too, so the whole line is sent. The answer replaces the whole word; the part before the
// last division is removed from it. Lines are read one by one: a list of words would lose an empty word, and take names with stars for patterns.
const BASH = `# Completion of bough for bash. Install: ${INSTALL.bash}
_bough() {
  local word="$2" line raw prefix
  local -a answer=()
  while IFS= read -r line; do answer+=("$line"); done < <(bough __complete --shell bash --line "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  COMPREPLY=()
  if [ "\${answer[0]}" = "${FILES}" ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$2")
    return
  fi
  raw="\${answer[0]}"
  prefix=""
  case "$raw" in *"$word") prefix="\${raw%"$word"}" ;; esac
  for line in "\${answer[@]:1}"; do COMPREPLY+=("\${line#"$prefix"}"); done
  case "\${COMPREPLY[0]}" in --*=) compopt -o nospace 2>/dev/null ;; esac
}
complete -F _bough bough
`;

const ZSH = `#compdef bough
# Completion of bough for zsh. Install: ${INSTALL.zsh}
_bough() {
  local -a answer values descriptions
  local line
  answer=("\${(@f)$(bough __complete --shell zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "\${answer[1]}" == "${FILES}" ]]; then
    _files
    return
  fi
  for line in "\${answer[@]}"; do
    [[ -z "$line" ]] && continue
    values+=("\${line%%$'\\t'*}")
    descriptions+=("\${line%%$'\\t'*}  \${line#*$'\\t'}")
  done
  compadd -l -d descriptions -a values
}
if [[ "\${funcstack[1]}" == "_bough" ]]; then
  _bough "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _bough bough
fi
`;

const FISH = `# Completion of bough for fish. Install: ${INSTALL.fish}
function __bough_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct | string unescape 2>/dev/null)
  set -l answer (bough __complete --shell fish -- $before[2..] "$current" 2>/dev/null)
  if test "$answer[1]" = "${FILES}"
    __fish_complete_path "$current"
  else
    printf '%s\\n' $answer
  end
end
complete -c bough -f -a '(__bough_complete)'
`;

/** The script that a shell evaluates. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
