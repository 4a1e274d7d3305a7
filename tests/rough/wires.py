"""Wires between workers and their controller, which can be cut: `wires.py PORT COUNT`.

Prints the ports, one for each worker, and reads commands, a line each: `NUMBER pass`,
`NUMBER hold` (bytes wait, as in a network that drops all) or `NUMBER cut` (connections break and
new ones are refused)."""
import asyncio
import contextlib
import sys


class Wire:
    """The way of one worker."""

    def __init__(self, target):
        self.target = target
        self.passes = asyncio.Event()
        self.passes.set()
        self.is_cut = False
        self.writers = set()

    async def accept(self, reader, writer):
        if self.is_cut:
            writer.close()
            return
        self.writers.add(writer)
        with contextlib.suppress(OSError):
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.target)
            self.writers.add(there_writer)
            await asyncio.gather(self.copy(reader, there_writer), self.copy(there_reader, writer))
            self.writers.discard(there_writer)
        self.writers.discard(writer)
        writer.close()

    async def copy(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                await self.passes.wait()
                writer.write(data)
                await writer.drain()
        writer.close()

    def order(self, mode):
        self.is_cut = mode == "cut"
        if mode == "hold":
            self.passes.clear()
        else:
            self.passes.set()
        if self.is_cut:
            for writer in list(self.writers):
                writer.transport.abort()


async def main():
    """Serves until the standard input ends."""
    wires = [Wire(int(sys.argv[1])) for _ in range(int(sys.argv[2]))]
    ports = []
    for wire in wires:
        server = await asyncio.start_server(wire.accept, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
    print(*ports, flush=True)
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        number, mode = line.decode().split()
        wires[int(number)].order(mode)


asyncio.run(main())
