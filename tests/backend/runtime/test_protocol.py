from convex_evals.backend.runtime.protocol import BytesFrame, FrameParser, Message, bytes_frame, json_frame


def test_frames_are_found_however_the_bytes_arrive() -> None:
    frames: list[Message | BytesFrame] = [
        {"op": "a", "text": "ä"},
        BytesFrame(7, b"\0\1"),
        {"op": "b"},
        BytesFrame(8, b""),
    ]
    stream = b"".join(
        bytes_frame(frame.channel, frame.data) if isinstance(frame, BytesFrame) else json_frame(frame)
        for frame in frames
    )
    for size in (1, 3, 7, len(stream)):
        parser = FrameParser()
        chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert [frame for chunk in chunks for frame in parser.feed(chunk)] == frames
