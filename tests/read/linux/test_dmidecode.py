"""dmidecode -t memory."""

from reading import picked, read_sample


def test_slots_and_what_is_in_them() -> None:
    reading = read_sample("dmidecode.txt")
    assert (reading.format, reading.skipped_lines) == ("dmidecode (memory)", 0)
    held = dict(picked(reading, "setting", "name", "value", component="dmi"))
    assert held["dimm.DIMM_A1/P0_Node0_Channel0_Dimm0"] == str(16 << 30)
    assert held["dimm.DIMM_D1/P0_Node0_Channel3_Dimm0"] == "0"
    assert held["dimm.DIMM_B1/P0_Node0_Channel1_Dimm0.speed_mt_s"] == "2666"
