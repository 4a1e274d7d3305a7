# Sourced with web/ as the working directory. If the system's Node.js was too old, puts the Node.js
# that build.sh installed first in PATH.
if [ -x build/node/bin/node ]; then export PATH="$PWD/build/node/bin:$PATH"; fi
