"""Plans of the statements that take most of the time: who is asked, what planning may call, how one is explained."""
