package agentscript_test

import (
	"context"
	"fmt"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
)

// Forecast is the input of the example's tool.
type Forecast struct {
	City string        `json:"city" doc:"where"`
	In   time.Duration `json:"in,omitempty" doc:"how far ahead; now when left out"`
}

type Weather struct {
	Sky     string  `json:"sky"`
	Degrees float64 `json:"degrees"`
}

func ExampleToolFunc() {
	weather, err := agentscript.ToolFunc("weather", "Tells the weather in a city.",
		func(ctx context.Context, f Forecast) (Weather, error) {
			return Weather{Sky: "rain in " + f.City + " in " + f.In.String(), Degrees: 9.5}, nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	weather.Class = engine.ClassRead // asking twice does no harm
	models := scripted.New([]scripted.Row{
		{Agent: "guide", Calls: []scripted.Call{{Name: "weather", Args: []byte(`{"city": "Bergen", "in": "3h"}`)}}},
		{Agent: "guide", Text: new("Take an umbrella.")},
	})
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithTool(weather))
	mod, err := eng.Load(context.Background(), script(`main = agent(name = "guide", prompt = "Say what to wear.", tools = [weather])`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	run := mod.Start(context.Background(), agentscript.Input("Bergen"), agentscript.OnEvent(engine.EventTool, func(e engine.Event) {
		if e.Phase() == engine.PhaseEnd {
			fmt.Println(e.Text())
		}
	}))
	fmt.Println(agentscript.As[string](run.Wait()))
	// Output:
	// {"sky":"rain in Bergen in 3h0m0s","degrees":9.5}
	// Take an umbrella. <nil>
}
