# Sourced: puts the Node.js of the lock file before the system's, which Debian 12 has too old.
# Expects the folder web/ as the working directory, and its packages installed.
for folder in "$PWD"/node_modules/node-linux-*/bin; do PATH=$folder:$PATH; done
export PATH
