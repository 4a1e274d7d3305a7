"""Listens at a port like a controller and prints all bytes that callers send, base64: PORT SECONDS."""
import base64
import selectors
import socket
import sys
import time

# An empty SETTINGS frame and its acknowledgement, after which a gRPC client sends its first call.
HTTP2_ANSWER = b"\0\0\0\4\0\0\0\0\0" + b"\0\0\0\4\1\0\0\0\0"

port, seconds = int(sys.argv[1]), float(sys.argv[2])
listener = socket.create_server(("127.0.0.1", port))
chosen = selectors.DefaultSelector()
chosen.register(listener, selectors.EVENT_READ)
heard = bytearray()
end = time.monotonic() + seconds
while (left := end - time.monotonic()) > 0:
    for key, _ in chosen.select(left):
        if key.fileobj is listener:
            caller, _ = listener.accept()
            caller.sendall(HTTP2_ANSWER)
            chosen.register(caller, selectors.EVENT_READ)
            continue
        received = key.fileobj.recv(65536)
        heard += received
        if not received:
            chosen.unregister(key.fileobj)
            key.fileobj.close()
print(base64.b64encode(bytes(heard)).decode())
