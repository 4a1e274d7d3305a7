# Sourced with web/ as the working directory: puts the Node.js that build.sh took from the lock
# file first, where the system's is too old.
if [ -x build/node/bin/node ]; then export PATH="$PWD/build/node/bin:$PATH"; fi
