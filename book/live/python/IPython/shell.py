"""What libraries ask of a notebook's shell: where to publish, and that events may be registered."""


class _Publisher:
    def publish(self, data, **options):
        """Show the contents of one output, by MIME type."""
        import runtime

        runtime.show_data(data)


class _Events:
    def register(self, event, function):
        """Matplotlib wants to draw after each cell; the page does so anyway."""

    def unregister(self, event, function):
        """Nothing was registered."""


class _Shell:
    kernel = None  # that there is one means: a notebook
    display_pub, events = _Publisher(), _Events()

    def enable_gui(self, name=None):
        """Matplotlib calls it when a reader chooses a way to draw: there is no window to be driven."""


SHELL = _Shell()
