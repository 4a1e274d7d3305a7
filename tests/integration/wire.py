"""Simulates the network between a program and a server: `wire.py SOCKET SERVER [LOSS SEED]`.

Accepts connections on the Unix socket SOCKET, and passes all bytes to and from the Unix socket
SERVER. While this process is stopped (SIGSTOP), bytes and connections wait, as in a network that
drops all packets. LOSS is the fraction of packets that the network loses, such as 0.3. TCP resends
a lost packet after 0.2 s, so this program delays this fraction of the messages by 0.2 s. SEED fixes
the sequence of delays."""
import asyncio
import contextlib
import random
import sys

# The shortest time after which TCP on Linux resends a packet, in seconds.
RESEND_SECONDS = 0.2


async def copy(reader, writer, loss, chance):
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            if chance.random() < loss:
                await asyncio.sleep(RESEND_SECONDS)
            writer.write(data)
            await writer.drain()
    writer.close()


async def main():
    socket, server = sys.argv[1:3]
    loss, seed = (float(sys.argv[3]), int(sys.argv[4])) if len(sys.argv) > 3 else (0, 0)
    chance = random.Random(seed)

    async def accept(reader, writer):
        try:
            there_reader, there_writer = await asyncio.open_unix_connection(server)
        except OSError:
            writer.close()
            return
        await asyncio.gather(copy(reader, there_writer, loss, chance),
                             copy(there_reader, writer, loss, chance))

    await (await asyncio.start_unix_server(accept, socket)).serve_forever()


asyncio.run(main())
