#!/usr/bin/env bash
# What bash offers for the last word of a command line: complete.sh SCRIPT WORD...
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tbemc
printf '%s\n' "${COMPREPLY[@]}"
